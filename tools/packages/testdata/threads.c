/* Calls the library from several threads. With an argument it leaves a response behind, which is a leak. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clew.h"

static void fail(const char *what, const char *response) {
    fprintf(stderr, "%s: %s\n", what, response);
    exit(1);
}

/* Calls and expects that the response begins as it should. */
static void expect(const char *request, size_t length, const char *beginning) {
    size_t response_length = 0;
    char *response = clew_call(request, length, &response_length);
    if (strncmp(response, beginning, strlen(beginning)) != 0)
        fail(request, response);
    if (strlen(response) != response_length)
        fail("the length differs", response);
    clew_free(response);
}

static void said(const char *request, const char *beginning) { expect(request, strlen(request), beginning); }

static long opened(const char *request) {
    long handle = 0;
    char *response = clew_call(request, strlen(request), NULL);
    if (sscanf(response, "{\"api\":1,\"result\":{\"handle\":%ld}}", &handle) != 1)
        fail(request, response);
    clew_free(response);
    return handle;
}

static long shared; /* a recorder that all threads use */

/* A history with a NUL in it, and a request that does not end with one, in memory that is freed at once. */
static void check(int number) {
    static const char history[] = "{:process 0, :type :invoke, :f :read}\n{:process 0, :type :ok, :f :read, :value %d}\n";
    char text[200], *request = malloc(400);
    int size = sprintf(text, history, number);
    int head = sprintf(request, "{\"api\":1,\"call\":\"check\",\"options\":{\"model\":\"register\",\"init\":7,\"svg\":true},\"bytes\":%d}\n", size);
    memcpy(request + head, text, size);
    request = realloc(request, head + size);
    expect(request, head + size, number == 7 ? "{\"api\":1,\"result\":{\"status\":0," : "{\"api\":1,\"result\":{\"status\":1,");
    free(request);
}

static void *client(void *argument) {
    int process = *(int *)argument;
    char request[200];
    for (int i = 0; i < 25; i++) {
        sprintf(request, "{\"api\":1,\"call\":\"recorder.invoke\",\"handle\":%ld,\"process\":%d,\"f\":\"write\",\"value\":%d}", shared, process, process * 100 + i);
        said(request, "{\"api\":1,\"result\":{}}");
        sprintf(request, "{\"api\":1,\"call\":\"recorder.complete\",\"handle\":%ld,\"process\":%d,\"type\":\"ok\",\"value\":%d}", shared, process, process * 100 + i);
        said(request, "{\"api\":1,\"result\":{}}");
        check(i);
    }
    return NULL;
}

int main(int argc, char **argv) {
    enum { clients = 8 };
    pthread_t threads[clients];
    int numbers[clients];
    char request[200];
    (void)argv;

    shared = opened("{\"api\":1,\"call\":\"recorder.open\",\"options\":{\"model\":\"register\"}}");
    for (int i = 0; i < clients; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, client, &numbers[i]) != 0)
            return 1;
    }
    for (int i = 0; i < clients; i++)
        pthread_join(threads[i], NULL);
    sprintf(request, "{\"api\":1,\"call\":\"recorder.check\",\"handle\":%ld}", shared);
    said(request, "{\"api\":1,\"result\":{\"status\":0,\"line\":{\"file\":\"-\",\"valid\":true,");
    sprintf(request, "{\"api\":1,\"call\":\"close\",\"handle\":%ld}", shared);
    said(request, "{\"api\":1,\"result\":{}}");
    said(request, "{\"api\":1,\"error\":{\"kind\":\"handle\",");

    expect(NULL, 0, "{\"api\":1,\"error\":{\"kind\":\"request\",");
    expect("{\0}", 3, "{\"api\":1,\"error\":{\"kind\":\"request\",");
    said("{\"api\":1,\"call\":\"version\"}", "{\"api\":1,\"result\":{\"version\":\"");
    if (clew_version() != clew_version() || strlen(clew_version()) == 0)
        return 1;
    clew_free(NULL);
    if (argc > 1)
        clew_call(request, strlen(request), NULL);
    return 0;
}
