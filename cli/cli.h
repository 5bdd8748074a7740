/* What the parts of the command line share: the options once they are parsed, and the commands. */
#ifndef RESOURCE_TRACKER_CLI_H
#define RESOURCE_TRACKER_CLI_H

#include "resource_tracker.h"

/* Exit codes of a wrapper, as env, nice and timeout use them; of the other verbs as usual. */
enum {
    CLI_EXIT_FAILURE = 1,
    CLI_EXIT_USAGE = 2,
    CLI_EXIT_TIMEOUT = 124,
    CLI_EXIT_OWN = 125,
    CLI_EXIT_CANNOT_EXEC = 126,
    CLI_EXIT_NOT_FOUND = 127
};

/* --paste: none, all, or the forms in the order of trk_paste_form. */
enum cli_paste {
    CLI_PASTE_NONE,
    CLI_PASTE_ALL,
    CLI_PASTE_FIRST,
    CLI_PASTE_METAFLOW = CLI_PASTE_FIRST,
    CLI_PASTE_SLURM,
    CLI_PASTE_KUBERNETES,
    CLI_PASTE_NEXTFLOW,
    CLI_PASTE_SNAKEMAKE,
    CLI_PASTE_DOCKER,
    CLI_PASTE_AWS_BATCH
};

enum cli_switch { CLI_SWITCH_ON, CLI_SWITCH_OFF };

/* --format: from here on the forms of other tools, in the order of trk_export_format. */
enum { CLI_FORMAT_TOOLS = 100 };

/* The values of an option that can be repeated, in the order of the words. */
enum { CLI_TEXTS_MAX = 32 };

struct cli_texts {
    const char *at[CLI_TEXTS_MAX];
    size_t count;
};

/* Several runs, and what they are held against. */
struct cli_comparing {
    double repeat;       /* how many runs are measured; 0: one, with its own summary */
    double warmup;       /* how many runs come before and are not counted */
    const char *prepare; /* a command line before each run; NULL: none */
    bool compare;        /* each word is a command line; they are compared */
    bool ignore_failure; /* a run that fails does not end the series */
    const char *base;    /* a side; NULL: none */
    struct cli_texts gates;
    bool strict;   /* a gate that is uncertain fails */
    bool markdown; /* compare: the table as Markdown */
};

/* Filled by options.c from flags > TRACKER_* environment > config file > defaults. */
struct cli_options {
    struct trk_options session;
    bool quiet;
    bool verbose;
    bool live;
    bool no_save;
    enum cli_switch cloud;
    const char *summary_path;   /* NULL: none; "-": standard output */
    const char *processes_path; /* NULL: none */
    const char *export_to;      /* "FORMAT:FILE"; NULL: none */
    const char *job_name;       /* NULL: the command's own name */
    const char *report_path;    /* --report; NULL: none */
    bool open;                  /* report: show the page in a browser */
    const char *key;            /* of runs of the same job; NULL: the command's */
    struct trk_recommend_options recommend;
    enum trk_level level; /* recommend: which one is explained and pasted */
    enum cli_paste paste;
    double servers; /* recommend: how many */
    bool spot, dedicated, online;
    const char *filter_vendor, *filter_region, *filter_arch, *filter_gpu_model,
        *filter; /* NULL: any */
    bool alone;  /* recommend: the named run without the earlier ones of its command */
    struct cli_comparing comparing;
    double timeout_seconds;    /* 0: none */
    double kill_after_seconds; /* 0: never */
    char **command;            /* the words after the options, NULL-terminated */
    pid_t pid;                 /* attach */
    char **
        operands; /* runs, mark, convert, recommend: the words behind the options, NULL-terminated */
    bool json;
    const char *action;        /* runs: "list", "remove", "prune"; NULL: list */
    const char *match;         /* runs: only those with this in their command; NULL: all */
    double older_than_seconds; /* runs prune; negative: any age */
    const char *max_size;      /* runs prune: "500M"; NULL: any */
    double keep;               /* runs prune: so many; negative: any */
    bool dry_run, yes;         /* runs prune */
    double rows_max;           /* convert: merge rows down to so many; 0: all */
};

/* One command; the result is the exit status. A job that died of a signal makes cmd_run die of it
 * too, so it may not return. */
int cli_cmd_run(const struct cli_options *options);
int cli_cmd_attach(const struct cli_options *options);
int cli_cmd_system(const struct cli_options *options);
int cli_cmd_runs(const struct cli_options *options);
int cli_cmd_mark(const struct cli_options *options);
int cli_cmd_convert(const struct cli_options *options);
int cli_cmd_show(const struct cli_options *options);
int cli_cmd_export(const struct cli_options *options);
int cli_cmd_recommend(const struct cli_options *options);
int cli_cmd_report(const struct cli_options *options);
int cli_cmd_catalog(const struct cli_options *options);
int cli_cmd_info(const struct cli_options *options);
int cli_cmd_compare(const struct cli_options *options);
int cli_cmd_baseline(const struct cli_options *options);

/* "resource-tracker: " and the message on standard error; returns CLI_EXIT_OWN, so that callers can
 * `return cli_fail(...)`. */
int cli_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for words that are wrong: returns CLI_EXIT_USAGE. Not for `run`, which has 125 for both. */
int cli_misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What was printed has arrived: returns the status, or that of a failure. */
int cli_finish_stdout(int status);

/* The end-of-run summary for a person on standard error; colours only on a terminal and without NO_COLOR.
 * rows_complete false: the output failed on the way. */
void cli_summary_print(const trk_session *session, const struct cli_options *options,
                       bool rows_complete);

/* --summary FILE; path "-" is standard output. */
int cli_summary_save(trk_session *session, const struct cli_options *options);

/* Keeps the run unless --no-save, and makes the page of --report. A home that cannot be written is no fault of the job; a
 * message says so, since the user expects the run in the list. A negative code where --report could not be made. */
int cli_record_keep(trk_session *session, const struct cli_options *options);
/* Sets what of it the session has to keep. */
void cli_record_ask(const struct cli_options *options, struct trk_options *session_options);

/* --live: one line on the terminal, drawn over itself. Does nothing where standard error is no terminal. */
void cli_live_update(const trk_session *session);
void cli_live_clear(void);

#endif
