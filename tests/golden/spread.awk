# SPDX-License-Identifier: MIT
# Makes two hosts of a case of one: the first process is on alpha, all others are on beta, each with
# streams of its own.  Writes them into the file `both` as two traces, and each alone into a file.
#
# usage: awk -v both=FILE -v alpha=FILE -v beta=FILE -f spread.awk CASE
/^(#|$|trace )/ { next }
!/ [0-9]+ [0-9]+ [a-z]+:/ { exit 1 } # nobody says whose it is
{
	if (first == "")
		first = $3
	if ($3 == first) {
		near[++nears] = $0
		next
	}
	$2 = "beta_" $2
	gsub(/host="[^"]*"/, "host=\"beta\"")
	far[++fars] = $0
}
END {
	if (!fars)
		exit 1
	print "trace host=alpha" >both
	print "trace host=alpha" >alpha
	for (i = 1; i <= nears; i++) {
		print near[i] >both
		print near[i] >alpha
	}
	print "trace host=beta" >both
	print "trace host=beta" >beta
	for (i = 1; i <= fars; i++) {
		print far[i] >both
		print far[i] >beta
	}
}
