/* docs/errors.md, line by line; the build makes the table. */
#ifndef FCL_TOOLS_ERRORS_PAGE_H
#define FCL_TOOLS_ERRORS_PAGE_H

extern const char *const errors_page[]; /* ends with NULL */

#endif
