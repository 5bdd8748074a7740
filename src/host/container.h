/* Whether this is a container, and who started the job: hints from files and the environment alone. */
#ifndef TRK_HOST_CONTAINER_H
#define TRK_HOST_CONTAINER_H

#include "base/context.h"

/* "docker", "podman", "kubernetes", "lxc", ...; NULL: no sign of one. Static storage. */
const char *trk__container_find(const struct trk_context *context);

/* The index-th orchestrator that has left its mark in the environment, the nearest to the job first: its name, and
 * what it calls the job (NULL: nothing that it told). False past the end. */
bool trk__orchestrator_at(unsigned index, const char **ret_name, const char **ret_job);

#endif
