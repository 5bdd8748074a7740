// What stands in the page as JSON, described once. src/report/page_data.c writes it; parts that it takes from the run
// are those of src/run/run_fields.c, advice that of src/advise/advice_json.c and src/advise/rent_fields.c. A figure that is not known is null or not there: both mean the same.

/** @typedef {number | null | undefined} Figure */
/** @typedef {string | null | undefined} Text */

/**
 * @typedef {object} Stats
 * @property {Figure} mean weighted by time
 * @property {Figure} max
 * @property {Figure} last
 * @property {Figure} total of counts
 */

/**
 * One value for all points, or points as base64 of 16 bits in `unit` (chart_series.h).
 * @typedef {{ stats: Stats, value: number | null, data?: undefined } | { stats: Stats, data: string, unit: number }} Column
 */

/**
 * @typedef {object} Charts
 * @property {number} start_time seconds since the epoch
 * @property {number} interval seconds
 * @property {number} rows
 * @property {number} bucket_rows rows that a point stands for; 1: each row is drawn
 * @property {string} times base64 of 32-bit floats, seconds since the start
 * @property {Record<string, Column>} columns by the names of src/report/run_view.c; "gpu0_memory" and the like for devices
 */

/**
 * @typedef {object} Metadata
 * @property {Figure} [pid]
 * @property {Text} [host]
 * @property {Text} [job_name]
 * @property {boolean} [track_processes]
 * @property {Figure} [interval]
 * @property {Figure} [start_time]
 * @property {Figure} [stop_time]
 * @property {Figure} [wall_seconds]
 * @property {Figure} [exit_code]
 * @property {Figure} [signal]
 * @property {boolean} [interrupted] the tracker was killed
 */

/**
 * @typedef {object} ServerInfo
 * @property {Text} [os]
 * @property {Text} [cpu_model]
 * @property {Figure} [vcpus]
 * @property {Figure} [vcpus_allowed]
 * @property {Figure} [memory_mb] MiB, as memory_mib
 * @property {Figure} [memory_mib]
 * @property {Figure} [gpu_count]
 * @property {Text} [gpu_name]
 * @property {Figure} [gpu_memory_mb] MiB
 * @property {Text} [allocation]
 * @property {string | { runtime?: Text } | null} [container]
 */

/**
 * @typedef {object} CloudInfo
 * @property {Text} [vendor]
 * @property {Text} [instance_type]
 * @property {Text} [region]
 * @property {Text} [zone]
 */

/**
 * @typedef {object} Total
 * @property {Figure} [value]
 * @property {Text} [source] names joined by "+"
 */

/** @typedef {Total & { user?: Figure, system?: Figure, sampled?: Figure, coverage?: Figure }} CpuTotal */
/** @typedef {Total & { low?: Figure, high?: Figure, sampled?: Figure }} PeakTotal */

/**
 * @typedef {object} Totals
 * @property {CpuTotal} [cpu_seconds]
 * @property {PeakTotal} [peak_memory_bytes]
 * @property {Total} [read_bytes]
 * @property {Total} [write_bytes]
 * @property {Total} [processes]
 * @property {Total} [oom_kills]
 */

/** @typedef {{ cpu_cores?: Figure, memory_bytes?: Figure, throttled_seconds?: Figure }} Limits */

/**
 * @typedef {object} Gpu
 * @property {Text} [name]
 * @property {Text} [uuid]
 * @property {boolean} [is_split] its parts are listed by themselves
 * @property {Figure} [memory_bytes]
 * @property {Figure} [memory_peak_bytes]
 * @property {Figure} [job_memory_peak_bytes]
 * @property {Figure} [utilization_mean_ratio]
 * @property {Figure} [utilization_max_ratio]
 * @property {Figure} [busy_share_ratio]
 */

/**
 * Files of other versions name the kind and the time otherwise.
 * @typedef {object} RunEvent
 * @property {string} name
 * @property {Text} [kind] start, stop or point
 * @property {Text} [type]
 * @property {Text} [event]
 * @property {Figure} [timestamp]
 * @property {Figure} [time]
 * @property {Figure} [at]
 */

/**
 * @typedef {object} ProcessLife
 * @property {Figure} [pid] null: several processes in one line
 * @property {Figure} [count]
 * @property {string} command
 * @property {Figure} [start_time]
 * @property {Figure} [end_time]
 * @property {Figure} [exit_code] negative: a signal
 * @property {Figure} [cpu_seconds]
 * @property {Figure} [peak_rss_bytes]
 * @property {Figure} [read_bytes]
 * @property {Figure} [write_bytes]
 */

/**
 * @typedef {object} Level
 * @property {Figure} [memory] MiB
 * @property {Figure} [cpu] cores
 * @property {Figure} [gpu]
 * @property {Figure} [vram] MiB of each GPU
 * @property {Figure} [risk] that it is too little
 * @property {Figure} [slowdown]
 * @property {{ memory?: Text, cpu?: Text, gpu?: Text }} [reasons]
 */

/** @typedef {"lean" | "balanced" | "safe"} LevelName */

/**
 * @typedef {object} Server
 * @property {Text} [vendor_id]
 * @property {Text} [server_id]
 * @property {Text} [api_reference]
 * @property {Figure} [vcpus]
 * @property {Figure} [memory_amount] MiB
 * @property {Figure} [gpu_count]
 * @property {Text} [gpu_model]
 * @property {Text} [cpu_architecture]
 * @property {Text} [region]
 * @property {Figure} [min_price_ondemand] an hour
 * @property {Figure} [best_ondemand_price_duration] of this run
 * @property {{ amount?: Figure, percent?: Figure }} [cost_savings]
 */

/** @typedef {Server & { cost?: Figure, seconds?: Figure, cheapest?: boolean }} Finish */
/** @typedef {Server & { run_costs?: Figure, price?: Figure, price_is_of_region?: boolean, price_region?: Text, server_id_inferred?: boolean }} Paid */

/**
 * @typedef {object} Rent
 * @property {string} [currency]
 * @property {Text} [credit]
 * @property {Text} [date]
 * @property {Paid | null} [run] what the run cost where it ran
 * @property {Server[]} [servers] the cheapest first
 * @property {Server[]} [by_vendor]
 * @property {Finish[]} [finish]
 */

/**
 * @typedef {object} Advice
 * @property {Partial<Record<LevelName, Level>>} [levels] none where it is refused
 * @property {Level} [classic]
 * @property {Figure} [runs_used]
 * @property {Text} [refusal] why there are no levels
 * @property {{ memory?: Figure, cpu?: Figure }} [peaks] memory in MiB
 * @property {Rent} [rent]
 */

/**
 * @typedef {object} EarlierRun
 * @property {string} id
 * @property {Figure} start_time
 * @property {Figure} wall_seconds
 * @property {Figure} cpu_seconds
 * @property {Figure} peak_memory_bytes
 * @property {Figure} exit_code
 * @property {Figure} signal
 * @property {boolean} interrupted
 */

/** @typedef {{ rule: string, weight: "fault" | "waste" | "hint", title: string, evidence: string }} Finding */

/**
 * @typedef {object} PageData
 * @property {number} made_at
 * @property {string} made_by
 * @property {string} integration standalone, metaflow...
 * @property {boolean} status_failed
 * @property {Metadata | null} [metadata]
 * @property {string[]} [command]
 * @property {boolean} [command_is_cut]
 * @property {ServerInfo} [server_info]
 * @property {CloudInfo} [cloud_info]
 * @property {Totals} [totals]
 * @property {Limits} [limits]
 * @property {Gpu[]} [gpus]
 * @property {RunEvent[]} [events]
 * @property {ProcessLife[]} [processes]
 * @property {{ process_rows?: Figure, system_rows?: Figure, rule?: Text }} [downsampled]
 * @property {Advice} [advice]
 * @property {Partial<Record<LevelName, Record<string, string>>>} [paste] by level, then by form
 * @property {{ cpu: Figure, memory: Figure, gpu: Figure, vram: Figure }} [classic_need] memory and VRAM in MiB
 * @property {Rent} [rent]
 * @property {EarlierRun[]} [history]
 * @property {Record<string, Record<string, Figure>>[] | null} [historical_stats] by column, then by statistic
 * @property {Finding[]} [findings]
 * @property {Charts} charts
 */

/** @typedef {{ name: string, from: number, to: number, open?: boolean }} Phase seconds since the start */
/** @typedef {{ name: string, at: number }} Point */

/**
 * The page's data with its columns decoded (record.js).
 * @typedef {object} Decoded
 * @property {number[]} times seconds since the start
 * @property {number} start
 * @property {number} interval
 * @property {Figure} wall how long it took
 * @property {Figure} end of the charts, in seconds since the start
 * @property {(name: string) => boolean} has
 * @property {(name: string) => Stats | null} stats
 * @property {(name: string) => (number | null)[]} column
 * @property {(name: string) => boolean} isUsed it was more than 0 at some time
 * @property {Phase[]} phases
 * @property {Point[]} points
 */

/** @typedef {PageData & Decoded} Run */

// ---- a comparison: docs/schema/compare.json, with charts

/** @typedef {{ value: Figure, low: Figure, high: Figure, confidence: Figure, outer_low: Figure, outer_high: Figure }} Interval */
/** @typedef {{ median: Interval, at_most: boolean, values: Figure[] }} Group */

/**
 * @typedef {object} Compared
 * @property {string | null} phase null: the whole run
 * @property {string} figure
 * @property {string} title
 * @property {"bytes" | "seconds" | "USD"} unit
 * @property {Group | null} base
 * @property {Group | null} new
 * @property {Interval | null} ratio
 * @property {Interval | null} difference
 * @property {Figure} p
 * @property {Figure} visible_ratio
 * @property {"one_sided" | "one_run" | "too_few" | "equal" | "none_seen" | "different"} verdict
 * @property {boolean} bracketed
 * @property {string} words
 */

/**
 * @typedef {object} Gate
 * @property {string} gate
 * @property {"passed" | "failed" | "uncertain" | "unknown"} outcome
 * @property {string} words
 */

/** @typedef {{ interval: number, times: string, columns: Record<string, Column> }} RunCharts */

/**
 * @typedef {object} ComparisonData
 * @property {{ runs: string[] } | null} base
 * @property {{ runs: string[] }} new
 * @property {Compared[]} figures
 * @property {string[]} outliers
 * @property {Gate[]} gates
 * @property {{ base: RunCharts[], new: RunCharts[] }} charts
 * @property {number} made_at seconds since the epoch
 * @property {string} made_by
 */

export {};
