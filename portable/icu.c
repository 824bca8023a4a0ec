/* SPDX-License-Identifier: MIT */
/*
 * Stands in for ICU, which Debian's libxml2 asks for encodings that neither it nor iconv
 * knows; LTTng writes and reads UTF-8 alone.  ICU itself is 30 MB, and Debian 12's needs
 * a newer libstdc++ than systems with glibc 2.34 have.
 */

/* ICU's names end in the number of its release. */
#define CONCATENATE(name, release) name##_##release
#define EXPAND(name, release)	   CONCATENATE(name, release)
#define NAME(name)		   EXPAND(name, ICU_RELEASE)

/* What ICU itself answers for an encoding that it has no table of. */
#define U_FILE_ACCESS_ERROR 4

void *NAME(ucnv_open)(const char *encoding, int *ret_error);

void *NAME(ucnv_open)(const char *encoding, int *ret_error)
{
	(void)encoding;
	*ret_error = U_FILE_ACCESS_ERROR;
	return 0;
}

/* These are for who got something from the above: nobody. */
#define UNREACHED(name)		\
	void NAME(name)(void);	\
	void NAME(name)(void)	\
	{			\
	}

UNREACHED(ucnv_close)
UNREACHED(ucnv_convertEx)
UNREACHED(ucnv_setFromUCallBack)
UNREACHED(ucnv_setToUCallBack)
UNREACHED(UCNV_FROM_U_CALLBACK_STOP)
UNREACHED(UCNV_TO_U_CALLBACK_STOP)
