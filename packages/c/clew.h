/*
 * clew checks whether histories of concurrent operations are linearizable.
 *
 * A request is an object of JSON, and so is the response: docs/api.md describes both. It is in clew's
 * repository, and in the archives of a release that have the program.
 *
 *     const char *request = "{\"api\":1, \"call\":\"check\", \"options\":{\"model\":\"register\"}, \"history\":\"..\"}";
 *     char *response = clew_call(request, strlen(request), NULL);
 *     puts(response);
 *     clew_free(response);
 *
 * Any thread may call any function at any time. Recorders and monitors that a request opened are shared by all threads.
 *
 * The library contains Go's runtime. A process that has called it may not fork and go on in the child without exec.
 */
#ifndef CLEW_H
#define CLEW_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Answers a request of this many bytes, which need not end with a NUL. A history may follow the request's JSON as it
 * is: after a line feed, as many bytes as the request says in "bytes".
 *
 * Returns the response, which ends with a NUL and is never NULL. Stores its length, without the NUL, in
 * response_length, which may be NULL. The caller owns the response and gives it to clew_free. The request is the
 * caller's, and may be changed or freed as soon as the function returns.
 *
 * A mistake in the request, a history that cannot be read and a bug in clew are all responses with an "error". Only
 * if there is no memory at all does the process end.
 */
char *clew_call(const char *request, size_t length, size_t *response_length);

/* Frees a response of clew_call. NULL is ignored. */
void clew_free(char *response);

/* Returns the version, as clew --version prints it. It stays valid and is not freed. */
const char *clew_version(void);

#ifdef __cplusplus
}
#endif

#endif
