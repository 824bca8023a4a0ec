#!/bin/sh
# SPDX-License-Identifier: MIT
# In namespaces of its own: runs a script in a root that cannot be written to, with the
# tarball unpacked in /tmp/try.
#
# usage: unshare -mpf --kill-child enter.sh ROOT TARBALL SCRIPT
set -eu
root=$1

mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t proc proc "$root/proc"
for folder in dev/shm tmp run; do
    mount -t tmpfs -o mode=1777 tmpfs "$root/$folder"
done
mkdir "$root/tmp/try" "$root/tmp/home"
tar -C "$root/tmp/try" -xf "$2"
cp "$3" "$root/tmp/script"
cd /
exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp/home /bin/sh /tmp/script
