/* The machine and its cloud, without a network: firmware, answers, the clock that ends a question. */
#include "check.h"
#include "fake_root.h"

#include "base/json_path.h"
#include "host/cloud.h"
#include "host/container.h"
#include "host/server_info.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>

/* ---- HTTP ---------------------------------------------------------------------------- */

static int parse(const char *text, bool is_closed, int *ret_status, struct trk_buffer *body)
{
    return trk__http_parse(text, strlen(text), is_closed, ret_status, body);
}

static void check_answer(const char *text, bool is_closed, int expected, const char *expected_body)
{
    struct trk_buffer body;
    int status = 0;
    trk__buffer_init(&body, TRK_HTTP_ANSWER_MAX);
    int code = parse(text, is_closed, &status, &body);
    if (code != expected)
        FAIL("%d, not %d, for\n%s", code, expected, text);
    if (code == 0)
        CHECK_TEXT(body.data ? body.data : "", expected_body);
    trk__buffer_done(&body);
}

static void test_answers(void)
{
    check_answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", false, 0, "hello");
    check_answer("HTTP/1.0 200 OK\r\n\r\nhello", true, 0, "hello");
    check_answer("HTTP/1.0 200 OK\r\n\r\nhello", false, -EAGAIN, NULL);
    check_answer("HTTP/1.1 200 OK\r\ncontent-length:5\r\n\r\nhell", false, -EAGAIN, NULL);
    check_answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", true, -EBADMSG, NULL);
    check_answer("HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n", false, -EMSGSIZE, NULL);
    check_answer("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", false, -EBADMSG, NULL);
    check_answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                 "3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n",
                 false, 0, "abc0123456789");
    check_answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab", false, -EAGAIN,
                 NULL);
    check_answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n", true,
                 -EBADMSG, NULL);
    check_answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\n", false,
                 -EMSGSIZE, NULL);
    check_answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", false, -EBADMSG, NULL);
    check_answer("SSH-2.0-OpenSSH\r\n", false, -EBADMSG, NULL);
    check_answer("HTTP/1.1 2000 OK\r\n\r\n", true, -EBADMSG, NULL);
    check_answer("", true, -EBADMSG, NULL);
    check_answer("HTT", false, -EAGAIN, NULL);
}

static void test_status(void)
{
    struct trk_buffer body;
    int status = 0;
    trk__buffer_init(&body, TRK_HTTP_ANSWER_MAX);
    CHECK(parse("HTTP/1.1 302 Found\r\nLocation: http://x/\r\nContent-Length: 0\r\n\r\n", false,
                &status, &body) == 0);
    CHECK(status == 302);
    trk__buffer_done(&body);
}

/* ---- a clock that a test turns ------------------------------------------------------- */

static int64_t turned_clock(void *state)
{
    /* Each look at it finds a tenth of a second gone. */
    return *(int64_t *)state += 100000000;
}

/* A service that takes the connection and never answers. Returns its port. */
static uint16_t listen_mutely(int *ret_fd)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *ret_fd = socket(AF_INET, SOCK_STREAM, 0);
    REQUIRE(bind(*ret_fd, (struct sockaddr *)&address, sizeof address) == 0);
    REQUIRE(listen(*ret_fd, 8) == 0);
    getsockname(*ret_fd, (struct sockaddr *)&address, &len);
    return ntohs(address.sin_port);
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void test_deadline_is_the_contexts(void)
{
    int fd;
    int64_t now_ns = 0;
    struct trk_context context;
    struct trk_buffer body;
    trk__context_init(&context, NULL, NULL);
    context.clock.monotonic_ns = turned_clock;
    context.clock.state = &now_ns;
    struct trk_http_request request = {
        .address = "127.0.0.1", .port = listen_mutely(&fd), .path = "/"};
    struct trk_http_deadline deadline = {.context = &context, .end_ns = TRK_CLOUD_LIMIT_NS};
    trk__buffer_init(&body, TRK_HTTP_ANSWER_MAX);
    double started = seconds_now();
    CHECK(trk__http_ask(&request, &deadline, &body) == -ETIMEDOUT);
    /* A second by that clock, some ten looks at it: much less by the real one. */
    CHECK(now_ns >= TRK_CLOUD_LIMIT_NS && now_ns <= TRK_CLOUD_LIMIT_NS + 300000000);
    CHECK(seconds_now() - started < 0.6);
    close(fd);
    CHECK(trk__http_ask(&request, &deadline, &body) < 0); /* and nobody there at all */
    trk__buffer_done(&body);
    trk__context_done(&context);
}

/* ---- firmware ------------------------------------------------------------------------ */

static unsigned candidates(const struct fake_root *root, const struct trk_dmi *dmi)
{
    struct trk_context context;
    const struct trk_vendor *vendor[TRK_VENDORS_MAX];
    trk__context_init(&context, root->path, NULL);
    unsigned count = trk__cloud_candidates(&context, dmi, vendor);
    trk__context_done(&context);
    return count;
}

static void test_who_may_be_asked(void)
{
    struct fake_root root;
    fake_root_init(&root);
    fake_root_write(&root, "proc/net/route",
                    "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n"
                    "eth0\t0002A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\n");
    const struct trk_dmi own = {.sys_vendor = "LENOVO", .product_name = "20QD"};
    const struct trk_dmi amazon = {.sys_vendor = "Amazon EC2"};
    const struct trk_dmi kvm = {.sys_vendor = "Red Hat", .product_name = "KVM"};
    const struct trk_dmi none = {.chassis_asset_tag = "No Asset Tag"};
    CHECK_U64(candidates(&root, &own), 0);
    CHECK_U64(candidates(&root, &amazon), 1);
    CHECK_U64(candidates(&root, &kvm), 12);
    CHECK_U64(candidates(&root, &none), 0);
    fake_root_write(&root, "proc/net/route",
                    "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n"
                    "eth0\t00000000\t0102A8C0\t0003\t0\t0\t100\t00000000\n");
    CHECK_U64(candidates(&root, &none), 12);
    CHECK_U64(candidates(&root, &own), 0);
    fake_root_done(&root);
}

/* ---- the machine --------------------------------------------------------------------- */

static const char *text_at(const char *json, const char *path)
{
    static char held[256];
    char *text = trk__json_text_at(json, path);
    snprintf(held, sizeof held, "%s", text ? text : "(nothing)");
    free(text);
    return held;
}

static void clear_environment(void)
{
    static const char *const names[] = {
        "container", "KUBERNETES_SERVICE_HOST", "SLURM_JOB_ID", "METAFLOW_RUN_ID", "GITHUB_ACTIONS",
        "GITLAB_CI", "AWS_BATCH_JOB_ID",        "PBS_JOBID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
}

static void test_server_facts(void)
{
    struct fake_root root;
    char *json = NULL;
    clear_environment();
    fake_root_init(&root);
    fake_root_write(&root, "proc/meminfo", "MemTotal:       16167128 kB\nMemFree: 1 kB\n");
    fake_root_write(&root, "proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU @ 2.50GHz\n");
    fake_root_write(&root, "sys/devices/system/cpu/online", "0-3,8,10-11\n");
    fake_root_write(&root, "proc/self/cgroup", "0::/system.slice/docker-0a.scope\n");
    REQUIRE(trk_server_info_json(root.path, &json, NULL) == 0);
    CHECK_TEXT(text_at(json, "os"), "Linux");
    CHECK_NEAR(trk__json_number_at(json, "vcpus"), 7, 0);
    CHECK_NEAR(trk__json_number_at(json, "memory_mb"), 15788.21, 0); /* 16167128 / 1024 */
    CHECK_NEAR(trk__json_number_at(json, "gpu_count"), 0, 0);
    CHECK_TEXT(text_at(json, "gpu_name"), "");
    CHECK_TEXT(text_at(json, "cpu_model"), "Some CPU @ 2.50GHz");
    CHECK_TEXT(text_at(json, "container"), "docker");
    CHECK_TEXT(text_at(json, "orchestrators"), "[]");
    CHECK(isnan(trk__json_number_at(json, "memory_limit_mb")));
    trk_free(json);
    setenv("SLURM_JOB_ID", "4711", 1);
    setenv("METAFLOW_RUN_ID", "17", 1);
    REQUIRE(trk_server_info_json(root.path, &json, NULL) == 0);
    CHECK_TEXT(text_at(json, "orchestrators.0.name"), "metaflow");
    CHECK_TEXT(text_at(json, "orchestrators.1.name"), "slurm");
    CHECK_TEXT(text_at(json, "orchestrators.1.job"), "4711");
    trk_free(json);
    clear_environment();
    fake_root_done(&root);
}

/* The tightest limit is on an ancestor. */
static void test_limits_of_ancestors(void)
{
    struct fake_root root;
    char *json = NULL;
    fake_root_init(&root);
    fake_root_write(&root, "proc/self/cgroup", "0::/a/b\n");
    fake_root_write(&root, "proc/self/mountinfo",
                    "30 25 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    fake_root_write(&root, "sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
    fake_root_write(&root, "sys/fs/cgroup/a/cpu.max", "150000 100000\n");
    fake_root_write(&root, "sys/fs/cgroup/a/memory.max", "1073741824\n");
    fake_root_write(&root, "sys/fs/cgroup/a/b/cpu.max", "400000 100000\n");
    fake_root_write(&root, "sys/fs/cgroup/a/b/memory.max", "2147483648\n");
    REQUIRE(trk_server_info_json(root.path, &json, NULL) == 0);
    CHECK_NEAR(trk__json_number_at(json, "cpu_quota_cores"), 1.5, 0);
    CHECK_NEAR(trk__json_number_at(json, "memory_limit_mb"), 1024, 0);
    trk_free(json);
    fake_root_done(&root);
}

static int two_kinds(const void *many, uint32_t index, struct trk_gpu_info *ret_info)
{
    static const char *const names[] = {"H100", "T4", "T4", "whole"};
    (void)many;
    if (index > 3)
        return -ERANGE;
    *ret_info = (struct trk_gpu_info){
        .size = sizeof *ret_info, .memory_bytes = 1024.0 * 1024 * 15360, .is_split = index == 3};
    strcpy(ret_info->name, names[index]);
    strcpy(ret_info->source, index == 0 ? "nvml" : "nvidia-smi");
    return 0;
}

static void test_gpus(void)
{
    struct fake_root root;
    struct trk_context context;
    struct trk_buffer text;
    fake_root_init(&root);
    fake_root_write(&root, "proc/meminfo", "MemTotal: 1024 kB\n");
    trk__context_init(&context, root.path, NULL);
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    struct trk_json json = trk__json(&text);
    struct trk_limits limits = {0};
    struct trk_server_parts parts = {
        .limits = &limits, .gpu = two_kinds, .allocation = "dedicated"};
    struct trk_run_server server;
    trk__fields_init(&trk__run_server_fields, &server);
    CHECK(trk__server_find(&context, &parts, &server) == 0);
    trk__fields_write(&json, &trk__run_server_fields, &server);
    trk__fields_done(&trk__run_server_fields, &server);
    CHECK_NEAR(trk__json_number_at(text.data, "gpu_count"), 3, 0);
    CHECK_TEXT(text_at(text.data, "gpu_name"), "T4");
    CHECK_TEXT(text_at(text.data, "gpu_names.0"), "H100");
    CHECK_NEAR(trk__json_number_at(text.data, "gpu_memory_mb"), 46080, 0);
    CHECK_TEXT(text_at(text.data, "gpu_source"), "nvml, nvidia-smi");
    CHECK_TEXT(text_at(text.data, "allocation"), "dedicated");
    trk__buffer_done(&text);
    trk__context_done(&context);
    fake_root_done(&root);
}

static void test_allocation(void)
{
    const double mib = 1048576;
    double system[] = {1, 600 * mib, 0, 0}, process[] = {0.9, 500 * mib, 0, 0};
    CHECK_TEXT(trk__allocation(system, process), "dedicated");
    system[0] = 1.2;
    CHECK_TEXT(trk__allocation(system, process), "shared");
    system[0] = NAN;
    CHECK_TEXT(trk__allocation(system, process), "unknown");
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(test_answers),
        TEST(test_status),
        TEST(test_deadline_is_the_contexts),
        TEST(test_who_may_be_asked),
        TEST(test_server_facts),
        TEST(test_limits_of_ancestors),
        TEST(test_gpus),
        TEST(test_allocation),
    };
    return CHECK_MAIN(argc, argv, tests);
}
