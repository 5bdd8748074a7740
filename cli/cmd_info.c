#include "cli.h"
#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct facts {
    char *server, *cloud; /* JSON */
};

static void facts_done(struct facts *facts)
{
    trk_free(facts->server);
    trk_free(facts->cloud);
}

static int facts_find(const struct cli_options *options, struct facts *facts,
                      struct trk_error *error)
{
    struct trk_cloud_options cloud;
    trk_cloud_options_init(&cloud);
    cloud.root_path = options->session.root_path;
    cloud.offline = !options->session.discover_cloud;
    int code = trk_server_info_json(options->session.root_path, &facts->server, error);
    return code < 0 ? code : trk_cloud_info_json(&cloud, &facts->cloud, error);
}

/* ---- for a person -------------------------------------------------------------------- */

/* "label  value unit"; what is not known has no line. */
static void print_fact(const char *label, const char *json, const char *path, const char *unit)
{
    char *value = trk_json_text(json, path);
    if (value && *value && strcmp(value, "null") != 0 && strcmp(value, "[]") != 0) {
        cli_text_make_printable(value);
        printf("  %-20s %s%s\n", label, value, unit);
    }
    trk_free(value);
}

static void print_orchestrators(const char *server)
{
    for (int i = 0;; i++) {
        char path[48];
        snprintf(path, sizeof path, "orchestrators.%d.name", i);
        char *name = trk_json_text(server, path);
        snprintf(path, sizeof path, "orchestrators.%d.job", i);
        char *job = trk_json_text(server, path);
        if (name) {
            bool has_job = job && strcmp(job, "null") != 0;
            if (has_job)
                cli_text_make_printable(job);
            printf("  %-20s %s%s%s\n", i ? "" : "started by", name, has_job ? ", job " : "",
                   has_job ? job : "");
        }
        trk_free(job);
        trk_free(name);
        if (!name)
            return;
    }
}

static void print_server(const char *server)
{
    printf("This machine:\n");
    print_fact("processors", server, "vcpus", "");
    print_fact("model", server, "cpu_model", "");
    print_fact("architecture", server, "architecture", "");
    print_fact("memory", server, "memory_mb", " MiB");
    print_fact("GPUs", server, "gpu_count", "");
    print_fact("GPU", server, "gpu_name", "");
    print_fact("GPU memory, all", server, "gpu_memory_mb", " MiB");
    print_fact("GPUs are read by", server, "gpu_source", "");
    printf("What a job may use of it:\n");
    print_fact("processors", server, "vcpus_allowed", "");
    print_fact("CPU quota", server, "cpu_quota_cores", " cores");
    print_fact("memory limit", server, "memory_limit_mb", " MiB");
    print_fact("container", server, "container", "");
    print_orchestrators(server);
}

static void print_cloud(const char *cloud)
{
    char *vendor = trk_json_text(cloud, "vendor");
    char *inferred = trk_json_text(cloud, "instance_type_inferred");
    bool is_known = vendor && strcmp(vendor, "unknown") != 0;
    printf("Cloud:%s\n", is_known ? "" : " none that is known");
    if (is_known) {
        bool is_inferred = inferred && strcmp(inferred, "true") == 0;
        print_fact("vendor", cloud, "vendor", "");
        print_fact("instance type", cloud, "instance_type",
                   is_inferred ? " (by its size; the vendor does not tell)" : "");
        print_fact("region", cloud, "region", "");
        print_fact("zone", cloud, "zone", "");
    }
    trk_free(inferred);
    trk_free(vendor);
}

/* One line a source: name, yes or no, and what it gives or why it is not there. Scripts read the first two
 * words. */
static void print_sources(void)
{
    struct trk_source_info info = {.size = sizeof info};
    printf("resource-tracker %s: sources of exact totals here\n", trk_version());
    for (size_t i = 0; trk_source_at(i, &info) == 0; i++)
        printf("  %-10s %-4s %s\n", info.name, info.available ? "yes" : "no",
               info.available ? info.gives : info.why);
}

/* ---- for a program ------------------------------------------------------------------- */

/* The names of sources have nothing to be escaped. */
static void print_json(const struct facts *facts)
{
    struct trk_source_info info = {.size = sizeof info};
    printf("{\"version\":\"%s\",\"server_info\":%s,\"cloud_info\":%s,\"sources\":{", trk_version(),
           facts->server, facts->cloud);
    for (size_t i = 0; trk_source_at(i, &info) == 0; i++)
        printf("%s\"%s\":%s", i ? "," : "", info.name, info.available ? "true" : "false");
    printf("}}\n");
}

int cli_cmd_info(const struct cli_options *options)
{
    struct facts facts = {0};
    struct trk_error error = {0};
    if (facts_find(options, &facts, &error) < 0) {
        facts_done(&facts);
        return cli_fail("%s", error.message);
    }
    if (options->json) {
        print_json(&facts);
    } else {
        print_sources();
        print_server(facts.server);
        print_cloud(facts.cloud);
    }
    facts_done(&facts);
    if (fflush(stdout) != 0 || ferror(stdout))
        return cli_fail("can't write to standard output: %s", strerror(errno));
    return 0;
}
