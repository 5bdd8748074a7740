/* The names that a snapshot has for the fields of a run. Those of metadata, server_info and cloud_info are the Python
 * package's, followed by what it does not have. */
#include "run/run.h"

static const char *const kind_names[] = {"command", "attached", "system", NULL};
static const char *const event_names[] = {"point", "start", "stop", "unknown", NULL};

static const struct trk_field tracker_table[] = {
    TRK_FIELD_INT_OF(struct trk_run_tracker, "pid", pid, 0),
    TRK_FIELD(struct trk_run_tracker, CHARS, "boot_id", boot_id),
    TRK_FIELD(struct trk_run_tracker, CHARS, "pid_namespace", pid_namespace),
    TRK_FIELD(struct trk_run_tracker, COUNT, "start_ticks", start_ticks),
};
TRK_FIELDS(trk__run_tracker_fields, struct trk_run_tracker, tracker_table);

#define METADATA struct trk_run_metadata
static const struct trk_field metadata_table[] = {
    TRK_FIELD(METADATA, NUMBER, "version", identity.format),
    TRK_FIELD(METADATA, RAW, "resource_tracker", identity.release),
    TRK_FIELD_INT_OF(METADATA, "pid", settings.pid, -1),
    TRK_FIELD(METADATA, FLAG, "children", settings.children),
    TRK_FIELD(METADATA, NUMBER, "interval", settings.interval_seconds),
    TRK_FIELD(METADATA, TEXT, "method", settings.method),
    TRK_FIELD(METADATA, FLAG, "autostart", settings.autostart),
    TRK_FIELD(METADATA, FLAG, "track_processes", settings.track_processes),
    TRK_FIELD(METADATA, FLAG, "track_system", settings.track_system),
    TRK_FIELD(METADATA, FLAG, "discover_server", settings.discover_server),
    TRK_FIELD(METADATA, FLAG, "discover_cloud", settings.discover_cloud),
    TRK_FIELD(METADATA, NUMBER, "start_time", identity.start_time),
    TRK_FIELD(METADATA, NUMBER, "stop_time", outcome.stop_time),
    TRK_FIELD(METADATA, NUMBER, "duration", outcome.duration),
    TRK_FIELD(METADATA, MICRO, "wall_seconds", outcome.wall_seconds),
    TRK_FIELD_CHOICE_OF(METADATA, "kind", identity.kind, kind_names, TRK_RUN_COMMAND),
    TRK_FIELD(METADATA, WORDS, "command", identity.command),
    TRK_FIELD(METADATA, TEXT, "command_key", identity.key),
    TRK_FIELD(METADATA, TEXT, "job_name", identity.job_name),
    TRK_FIELD(METADATA, FLAG, "ended", outcome.ended),
    TRK_FIELD(METADATA, MICRO, "time_limit", outcome.time_limit_seconds),
    TRK_FIELD_INT_OF(METADATA, "exit_code", outcome.exit_code, -1),
    TRK_FIELD_INT_OF(METADATA, "signal", outcome.exit_signal, 0),
    TRK_FIELD(METADATA, FLAG, "interrupted", outcome.interrupted),
    TRK_FIELD(METADATA, COUNT, "samples", outcome.samples),
    TRK_FIELD(METADATA, CHARS, "host", identity.host),
    TRK_FIELD(METADATA, CHARS, "run_id", identity.id),
    TRK_FIELD(METADATA, WORDS, "tags", identity.tags),
};
TRK_FIELDS(trk__run_metadata_fields, struct trk_run_metadata, metadata_table);

static const struct trk_field orchestrator_table[] = {
    TRK_FIELD(struct trk_run_orchestrator, TEXT, "name", name),
    TRK_FIELD(struct trk_run_orchestrator, TEXT, "job", job),
};
TRK_FIELDS(trk__run_orchestrator_fields, struct trk_run_orchestrator, orchestrator_table);

#define SERVER struct trk_run_server
static const struct trk_field server_table[] = {
    TRK_FIELD(SERVER, CHARS, "os", os),
    TRK_FIELD(SERVER, NUMBER, "vcpus", vcpus),
    TRK_FIELD(SERVER, NUMBER, "memory_mb", memory_mib),
    TRK_FIELD(SERVER, NUMBER, "gpu_count", gpu_count),
    TRK_FIELD(SERVER, WORDS, "gpu_names", gpu_names),
    TRK_FIELD(SERVER, TEXT, "gpu_name", gpu_name),
    TRK_FIELD(SERVER, NUMBER, "gpu_memory_mb", gpu_memory_mib),
    TRK_FIELD(SERVER, CHARS, "gpu_source", gpu_source),
    TRK_FIELD(SERVER, TEXT, "allocation", allocation),
    TRK_FIELD(SERVER, CHARS, "cpu_model", cpu_model),
    TRK_FIELD(SERVER, CHARS, "architecture", architecture),
    TRK_FIELD(SERVER, NUMBER, "vcpus_allowed", vcpus_allowed),
    TRK_FIELD(SERVER, NUMBER, "cpu_quota_cores", cpu_quota_cores),
    TRK_FIELD(SERVER, NUMBER, "memory_limit_mb", memory_limit_mib),
    TRK_FIELD(SERVER, CHARS, "container", container),
    TRK_FIELD_LIST_OF(SERVER, "orchestrators", orchestrators, trk__run_orchestrator_fields),
};
TRK_FIELDS(trk__run_server_fields, struct trk_run_server, server_table);

static const struct trk_field cloud_table[] = {
    TRK_FIELD(struct trk_run_cloud, CHARS, "vendor", vendor),
    TRK_FIELD(struct trk_run_cloud, CHARS, "instance_type", instance_type),
    TRK_FIELD(struct trk_run_cloud, CHARS, "region", region),
    TRK_FIELD(struct trk_run_cloud, CHARS, "zone", zone),
    TRK_FIELD(struct trk_run_cloud, MICRO, "discovery_time", discovery_seconds),
    TRK_FIELD(struct trk_run_cloud, FLAG, "instance_type_inferred", type_is_inferred),
};
TRK_FIELDS(trk__run_cloud_fields, struct trk_run_cloud, cloud_table);

static const struct trk_field cpu_table[] = {
    TRK_FIELD(struct trk_run_cpu, MICRO, "value", seconds),
    TRK_FIELD(struct trk_run_cpu, MICRO, "high", high_seconds),
    TRK_FIELD(struct trk_run_cpu, MICRO, "user", user_seconds),
    TRK_FIELD(struct trk_run_cpu, MICRO, "system", system_seconds),
    TRK_FIELD(struct trk_run_cpu, CHARS, "source", source),
    TRK_FIELD(struct trk_run_cpu, MICRO, "sampled", sampled_seconds),
    TRK_FIELD(struct trk_run_cpu, MICRO, "coverage", coverage),
};
static TRK_FIELDS(cpu_fields, struct trk_run_cpu, cpu_table);

static const struct trk_field memory_table[] = {
    TRK_FIELD(struct trk_run_memory, WHOLE, "value", bytes),
    TRK_FIELD(struct trk_run_memory, WHOLE, "low", low_bytes),
    TRK_FIELD(struct trk_run_memory, WHOLE, "high", high_bytes),
    TRK_FIELD(struct trk_run_memory, CHARS, "source", source),
    TRK_FIELD(struct trk_run_memory, WHOLE, "sampled", sampled_bytes),
    TRK_FIELD(struct trk_run_memory, WHOLE, "sampled_low", sampled_low_bytes),
    TRK_FIELD(struct trk_run_memory, WHOLE, "sampled_high", sampled_high_bytes),
    TRK_FIELD(struct trk_run_memory, MICRO, "estimated_ratio", estimated_ratio),
    TRK_FIELD(struct trk_run_memory, COUNT, "true_reads", exact_reads),
    TRK_FIELD(struct trk_run_memory, MICRO, "longest_read_seconds", longest_read_seconds),
    TRK_FIELD(struct trk_run_memory, WORDS, "limited_by", limited_by),
};
static TRK_FIELDS(memory_fields, struct trk_run_memory, memory_table);

static const struct trk_field count_table[] = {
    TRK_FIELD(struct trk_run_count, WHOLE, "value", value),
    TRK_FIELD(struct trk_run_count, CHARS, "source", source),
};
static TRK_FIELDS(count_fields, struct trk_run_count, count_table);

static const struct trk_field totals_table[] = {
    TRK_FIELD_OBJECT_OF(struct trk_run_totals, "cpu_seconds", cpu, cpu_fields),
    TRK_FIELD_OBJECT_OF(struct trk_run_totals, "peak_memory_bytes", memory, memory_fields),
    TRK_FIELD_OBJECT_OF(struct trk_run_totals, "read_bytes", read_bytes, count_fields),
    TRK_FIELD_OBJECT_OF(struct trk_run_totals, "write_bytes", write_bytes, count_fields),
    TRK_FIELD_OBJECT_OF(struct trk_run_totals, "processes", processes, count_fields),
    TRK_FIELD_OBJECT_OF(struct trk_run_totals, "oom_kills", oom_kills, count_fields),
};
TRK_FIELDS(trk__run_totals_fields, struct trk_run_totals, totals_table);

static const struct trk_field limits_table[] = {
    TRK_FIELD(struct trk_run_limits, NUMBER, "cpu_cores", cpu_cores),
    TRK_FIELD(struct trk_run_limits, NUMBER, "memory_bytes", memory_bytes),
    TRK_FIELD(struct trk_run_limits, MICRO, "throttled_seconds", throttled_seconds),
};
TRK_FIELDS(trk__run_limits_fields, struct trk_run_limits, limits_table);

static const struct trk_field gpu_table[] = {
    TRK_FIELD(struct trk_run_gpu, CHARS, "name", name),
    TRK_FIELD(struct trk_run_gpu, CHARS, "uuid", uuid),
    TRK_FIELD(struct trk_run_gpu, CHARS, "pci", pci),
    TRK_FIELD(struct trk_run_gpu, CHARS, "vendor", vendor),
    TRK_FIELD(struct trk_run_gpu, FLAG, "is_split", is_split),
    TRK_FIELD(struct trk_run_gpu, NUMBER, "memory_bytes", memory_bytes),
    TRK_FIELD(struct trk_run_gpu, NUMBER, "memory_peak_bytes", memory_peak_bytes),
    TRK_FIELD(struct trk_run_gpu, NUMBER, "job_memory_peak_bytes", job_memory_peak_bytes),
    TRK_FIELD(struct trk_run_gpu, NUMBER, "utilization_mean_ratio", utilization_mean),
    TRK_FIELD(struct trk_run_gpu, NUMBER, "utilization_max_ratio", utilization_max),
    TRK_FIELD(struct trk_run_gpu, NUMBER, "busy_share_ratio", busy_share),
};
TRK_FIELDS(trk__run_gpu_fields, struct trk_run_gpu, gpu_table);

static const struct trk_field process_table[] = {
    TRK_FIELD(struct trk_run_process, WHOLE, "pid", pid),
    TRK_FIELD(struct trk_run_process, WHOLE, "ppid", ppid),
    TRK_FIELD(struct trk_run_process, CHARS, "command", command),
    TRK_FIELD(struct trk_run_process, COUNT, "count", count),
    TRK_FIELD(struct trk_run_process, NUMBER, "start_time", start_time),
    TRK_FIELD(struct trk_run_process, NUMBER, "end_time", end_time),
    TRK_FIELD(struct trk_run_process, NUMBER, "exit_code", exit_code),
    TRK_FIELD(struct trk_run_process, MICRO, "cpu_seconds", cpu_seconds),
    TRK_FIELD(struct trk_run_process, NUMBER, "peak_rss_bytes", peak_rss_bytes),
    TRK_FIELD(struct trk_run_process, NUMBER, "read_bytes", read_bytes),
    TRK_FIELD(struct trk_run_process, NUMBER, "write_bytes", write_bytes),
    TRK_FIELD(struct trk_run_process, CHARS, "source", source),
};
TRK_FIELDS(trk__run_process_fields, struct trk_run_process, process_table);

static const struct trk_field event_table[] = {
    TRK_FIELD(struct trk_run_event, MICRO, "timestamp", time),
    TRK_FIELD(struct trk_run_event, TEXT, "name", name),
    TRK_FIELD_CHOICE_OF(struct trk_run_event, "kind", kind, event_names, TRK_MARK_STOP + 1),
    TRK_FIELD(struct trk_run_event, NUMBER, "pid", pid),
    TRK_FIELD(struct trk_run_event, NUMBER, "tid", tid),
};
TRK_FIELDS(trk__run_event_fields, struct trk_run_event, event_table);

static const struct trk_field holder_table[] = {
    TRK_FIELD(struct trk_run_holder, WHOLE, "pid", pid),
    TRK_FIELD(struct trk_run_holder, CHARS, "command", command),
    TRK_FIELD(struct trk_run_holder, WHOLE, "rss_bytes", rss_bytes),
};
TRK_FIELDS(trk__run_holder_fields, struct trk_run_holder, holder_table);

static const struct trk_field moment_table[] = {
    TRK_FIELD(struct trk_run_moment, MICRO, "seconds_before_end", seconds_before_end),
    TRK_FIELD(struct trk_run_moment, WHOLE, "memory_bytes", memory_bytes),
    TRK_FIELD_LIST_OF(struct trk_run_moment, "largest", largest, trk__run_holder_fields),
};
TRK_FIELDS(trk__run_moment_fields, struct trk_run_moment, moment_table);

static const struct trk_field oom_table[] = {
    TRK_FIELD(struct trk_run_oom, WHOLE, "pid", pid),
    TRK_FIELD(struct trk_run_oom, CHARS, "command", command),
    TRK_FIELD(struct trk_run_oom, WHOLE, "held_bytes", held_bytes),
    TRK_FIELD(struct trk_run_oom, TEXT, "cgroup", cgroup),
    TRK_FIELD(struct trk_run_oom, FLAG, "whole_machine", whole_machine),
    TRK_FIELD(struct trk_run_oom, WHOLE, "limit_bytes", limit_bytes),
    TRK_FIELD(struct trk_run_oom, WHOLE, "advised_bytes", advised_bytes),
    TRK_FIELD_LIST_OF(struct trk_run_oom, "last_moments", last_moments, trk__run_moment_fields),
};
TRK_FIELDS(trk__run_oom_fields, struct trk_run_oom, oom_table);

static const struct trk_field stat_table[] = {
    TRK_FIELD(struct trk_run_stat, CHARS, "name", name),
    TRK_FIELD(struct trk_run_stat, MICRO, "mean", mean),
    TRK_FIELD(struct trk_run_stat, MICRO, "max", max),
    TRK_FIELD(struct trk_run_stat, MICRO, "min", min),
    TRK_FIELD(struct trk_run_stat, MICRO, "sum", sum),
    TRK_FIELD(struct trk_run_stat, MICRO, "last", last),
};
TRK_FIELDS(trk__run_stat_fields, struct trk_run_stat, stat_table);

static const struct trk_field downsampled_table[] = {
    TRK_FIELD(struct trk_run_downsampled, NUMBER, "factor", factor),
    TRK_FIELD(struct trk_run_downsampled, NUMBER, "process_rows", process_rows),
    TRK_FIELD(struct trk_run_downsampled, NUMBER, "system_rows", system_rows),
    TRK_FIELD(struct trk_run_downsampled, TEXT, "rule", rule),
};
TRK_FIELDS(trk__run_downsampled_fields, struct trk_run_downsampled, downsampled_table);
