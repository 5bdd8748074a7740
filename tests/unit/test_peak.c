/* The bracket of the peak memory, without a kernel. */
#include "account/peak.h"
#include "check.h"

static const uint64_t MIB = 1 << 20;

enum { PAGE = 4096, PAGES_A_MIB = 256, STATUS_FAULTS = 100 };

struct job {
    struct trk_process_table table;
    struct trk_peak peak;
};

static void job_init(struct job *job)
{
    *job = (struct job){.peak.page_bytes = PAGE, .table.root_pid = 1};
}

static void job_done(struct job *job)
{
    trk__peak_done(&job->peak);
    trk__process_table_done(&job->table);
}

/* As a scan reads it. */
static void set_read(struct job *job, uint32_t index, uint64_t rss_mib, uint64_t shared_mib)
{
    struct trk_process *process = &job->table.item[index];
    process->is_seen = process->is_read = true;
    process->state = 'S';
    process->size_pages = 1 << 20;
    process->resident_pages = rss_mib * PAGES_A_MIB;
    process->shared_pages = shared_mib * PAGES_A_MIB;
    process->minor_faults = STATUS_FAULTS;
}

static uint32_t add(struct job *job, uint64_t rss_mib, uint64_t shared_mib)
{
    uint32_t index = trk__process_add(&job->table, (pid_t)job->table.serials + 1, 1, 1);
    REQUIRE(index != TRK_NO_PROCESS && trk__peak_reserve(&job->peak, index + 1) == 0);
    job->peak.of[index] = (struct trk_process_peak){0};
    set_read(job, index, rss_mib, shared_mib);
    return index;
}

static void take_status(struct job *job, uint32_t index, uint64_t peak_mib)
{
    trk__peak_take_status(
        &job->peak, &job->table, index,
        &(struct trk_obs_status){.has_memory = true, .peak_rss_bytes = peak_mib * MIB});
}

/* `unseen` processes were forked and exited between the last sample and this one, by their events. */
static void end_sample(struct job *job, uint64_t sampled_bytes, uint32_t unseen)
{
    struct trk_obs_memory memory = {.known = true,
                                    .total_bytes = sampled_bytes,
                                    .low_bytes = sampled_bytes,
                                    .high_bytes = UINT64_MAX / 2};
    job->peak.unseen.exited = job->peak.unseen.most_alive = unseen;
    trk__peak_end(&job->peak, &job->table, &memory, UINT64_MAX, true);
}

static uint64_t high_of(const struct job *job, uint64_t largest_bytes)
{
    uint64_t high = 0;
    CHECK(trk__peak_high(&job->peak, largest_bytes, &high));
    return high;
}

static bool has_high(const struct job *job)
{
    uint64_t high;
    return trk__peak_high(&job->peak, 0, &high);
}

static void a_spike_between_samples_is_in_a_narrow_bracket(void)
{
    struct job job;
    job_init(&job);
    uint32_t process = add(&job, 2, 1);
    take_status(&job, process, 2);
    end_sample(&job, 1 * MIB, 0);
    take_status(&job, process, 1026);
    end_sample(&job, 1 * MIB, 0);
    CHECK_U64(job.peak.low_bytes, 1025 * MIB);
    CHECK_U64(job.peak.value_bytes, 1025 * MIB);
    CHECK_U64(high_of(&job, 0), 1026 * MIB);
    CHECK_U64(job.peak.origin, TRK_PEAK_BY_STATUS);
    job_done(&job);
}

static void an_old_peak_rss_does_not_lift_later_samples(void)
{
    struct job job;
    job_init(&job);
    uint32_t process = add(&job, 2, 0);
    take_status(&job, process, 2);
    end_sample(&job, 2 * MIB, 0);
    take_status(&job, process, 1000);
    end_sample(&job, 2 * MIB, 0);
    end_sample(&job, 500 * MIB, 0); /* others have grown */
    CHECK_U64(job.peak.value_bytes, 1000 * MIB);
    job_done(&job);
}

static void spikes_that_can_overlap_are_allowed_for(void)
{
    struct job job;
    job_init(&job);
    uint32_t one = add(&job, 2, 0), two = add(&job, 2, 0);
    end_sample(&job, 4 * MIB, 0);
    take_status(&job, one, 300);
    take_status(&job, two, 400);
    end_sample(&job, 4 * MIB, 0);
    CHECK_U64(high_of(&job, 0), 700 * MIB);
    CHECK_U64(job.peak.low_bytes, 400 * MIB);
    CHECK(job.peak.value_bytes >= job.peak.low_bytes && job.peak.value_bytes <= 700 * MIB);
    job_done(&job);
}

static void copies_of_one_parent_allow_no_more_than_their_shared_sum(void)
{
    struct trk_obs_memory memory = {
        .known = true, .total_bytes = 501 * MIB, .low_bytes = 490 * MIB, .high_bytes = 510 * MIB};
    struct job job;
    job_init(&job);
    for (int i = 0; i < 9; i++)
        add(&job, 500, 0);
    trk__peak_end(&job.peak, &job.table, &memory, UINT64_MAX, true);
    CHECK_U64(high_of(&job, 0), 510 * MIB);
    /* Eight exit; each can have grown to the largest peak RSS with which any exited, and no further. */
    for (uint32_t i = 1; i < 9; i++)
        job.table.item[i].is_gone = true;
    trk__peak_end(&job.peak, &job.table, &memory, UINT64_MAX, true);
    CHECK(!has_high(&job));
    CHECK_U64(high_of(&job, 501 * MIB), 518 * MIB);
    job_done(&job);
}

static void one_that_was_never_read_is_as_large_as_the_largest_that_exited(void)
{
    struct job job;
    job_init(&job);
    add(&job, 10, 0);
    end_sample(&job, 10 * MIB, 2);
    CHECK(!has_high(&job)); /* nothing is known of their size: no bound */
    CHECK_U64(high_of(&job, 100 * MIB), 210 * MIB);
    job_done(&job);
}

static void without_events_faults_and_forks_bound_how_many_were_unseen(void)
{
    struct job job;
    struct trk_obs_memory memory = {.known = true, .total_bytes = 10 * MIB, .high_bytes = 10 * MIB};
    job_init(&job);
    add(&job, 10, 0);
    job.peak.unseen.forks = 5;
    trk__peak_end(&job.peak, &job.table, &memory, 0, false); /* none was waited for */
    CHECK_U64(job.peak.most_unseen, 0);
    job.peak.unseen.forks = 0;
    trk__peak_end(&job.peak, &job.table, &memory, 300,
                  false); /* forked too late for the last scan */
    CHECK_U64(job.peak.most_unseen, 5);
    job.peak.unseen.forks = 40;
    trk__peak_end(&job.peak, &job.table, &memory, 3, false); /* every process has some fault */
    CHECK_U64(job.peak.most_unseen, 5);
    job_done(&job);
}

/* Pages that faulted in since its status was read are allowed for; huge ones no more than the machine has had. */
static uint64_t high_after_faults(uint64_t faults, uint64_t huge_pages, uint64_t largest_page)
{
    const uint64_t huge_before = 1000;
    struct job job;
    job_init(&job);
    uint32_t process = add(&job, 10, 0);
    trk__peak_take_huge(&job.peak, &(struct trk_obs_huge){huge_before * 2 * MIB, largest_page});
    take_status(&job, process, 10);
    end_sample(&job, 10 * MIB, 0);
    job.table.item[process].minor_faults += faults;
    trk__peak_take_huge(&job.peak,
                        &(struct trk_obs_huge){(huge_before + huge_pages) * 2 * MIB, largest_page});
    end_sample(&job, 10 * MIB, 0);
    uint64_t high = high_of(&job, 0);
    job_done(&job);
    return high;
}

static void faults_since_its_status_are_allowed_for(void)
{
    CHECK_U64(high_after_faults(0, 5, 2 * MIB), 10 * MIB);        /* huge pages of others */
    CHECK_U64(high_after_faults(1, 2, 2 * MIB), 12 * MIB + PAGE); /* no more than it faulted ... */
    CHECK_U64(high_after_faults(100, 2, 2 * MIB),
              14 * MIB + 100 * PAGE); /* ... nor than the machine had */
    CHECK_U64(high_after_faults(UINT32_MAX, 2, 2 * MIB), 14 * MIB + (uint64_t)UINT32_MAX * PAGE);
    CHECK_U64(high_after_faults(100, 0, 0), 10 * MIB + 100 * PAGE); /* there are none */
}

static void huge_faults_before_the_first_reading_belong_to_no_process_of_the_job(void)
{
    struct job job;
    job_init(&job);
    uint32_t process = add(&job, 10, 0);
    job.table.item[process].state = 'Z';
    trk__peak_begin(&job.peak, &job.table);
    CHECK(!trk__peak_wants_huge(&job.peak, &job.table)); /* none has memory */
    job.table.item[process].state = 'S';
    trk__peak_begin(&job.peak, &job.table);
    CHECK(trk__peak_wants_huge(&job.peak, &job.table));
    CHECK(!trk__peak_wants_huge(&job.peak, &job.table)); /* once a sample */
    take_status(&job, process, 10);                      /* before any reading of the machine */
    trk__peak_take_huge(&job.peak, &(struct trk_obs_huge){1000 * 2 * MIB, 2 * MIB});
    job.table.item[process].minor_faults += 50;
    end_sample(&job, 10 * MIB, 0);
    CHECK_U64(high_of(&job, 0), 10 * MIB + 50 * PAGE);
    job_done(&job);
}

/* A zombie shows its faults to the end, and so how far its peak RSS can have moved. */
static void an_exit_with_few_faults_more_is_bounded_by_them(void)
{
    enum { FAULTS = 20, FAULT_AROUND = 64 << 10 };
    struct job job;
    job_init(&job);
    add(&job, 10, 0);
    uint32_t child = add(&job, 150, 0);
    take_status(&job, child, 150);
    end_sample(&job, 160 * MIB, 0);
    job.table.item[child].state = 'Z';
    job.table.item[child].minor_faults += FAULTS;
    end_sample(&job, 10 * MIB, 0);
    CHECK(job.peak.of[child].is_final);
    CHECK_U64(high_of(&job, 0), 160 * MIB + FAULTS * FAULT_AROUND);
    job_done(&job);
}

static void an_exit_with_many_faults_more_can_be_as_large_as_the_largest(void)
{
    struct job job;
    job_init(&job);
    add(&job, 10, 0);
    uint32_t child = add(&job, 10, 0);
    take_status(&job, child, 10);
    end_sample(&job, 20 * MIB, 0);
    job.table.item[child].state = 'Z';
    job.table.item[child].minor_faults += 40000;
    end_sample(&job, 10 * MIB, 0);
    CHECK(!has_high(&job));
    CHECK_U64(high_of(&job, 150 * MIB), 160 * MIB);
    job_done(&job);
}

/* It was read with memory, and its status shows none: it has exited in between. */
static void a_status_without_memory_is_an_exit(void)
{
    struct job job;
    job_init(&job);
    add(&job, 10, 0);
    uint32_t child = add(&job, 20, 0);
    trk__peak_take_status(&job.peak, &job.table, child,
                          &(struct trk_obs_status){.is_denied = true});
    CHECK(!job.peak.of[child].is_final); /* nothing is known */
    trk__peak_take_status(&job.peak, &job.table, child, &(struct trk_obs_status){0});
    CHECK(job.peak.of[child].is_final);
    CHECK_U64(job.peak.exits.count, 1);
    trk__peak_take_status(&job.peak, &job.table, child, &(struct trk_obs_status){0});
    CHECK_U64(job.peak.exits.count, 1);
    end_sample(&job, 10 * MIB, 0);
    CHECK_U64(high_of(&job, 100 * MIB), 110 * MIB);
    job_done(&job);
}

static void an_exit_record_raises_what_no_sample_saw(void)
{
    struct job job;
    job_init(&job);
    trk__peak_take_exit(&job.peak, 300 * MIB, 4 * MIB);
    CHECK_U64(job.peak.low_bytes, 296 * MIB);
    CHECK_U64(job.peak.value_bytes, 296 * MIB);
    CHECK_U64(job.peak.origin, TRK_PEAK_BY_RECORD);
    trk__peak_take_exit(&job.peak, 2 * MIB, 4 * MIB);
    CHECK_U64(job.peak.low_bytes, 296 * MIB);
    job_done(&job);
}

static uint32_t count_requests(struct job *job, unsigned *asked)
{
    uint32_t count = 0, index;
    trk__peak_begin(&job->peak, &job->table);
    while ((index = trk__peak_next_status(&job->peak, &job->table)) != TRK_NO_PROCESS) {
        asked[index]++;
        count++;
        take_status(job, index, 10);
    }
    return count;
}

static void the_status_of_a_large_job_is_read_in_turns(void)
{
    enum { PROCESSES = 30, A_SAMPLE = 4 + PROCESSES / 10, SAMPLES = 8 };
    struct job job;
    unsigned asked[PROCESSES] = {0};
    job_init(&job);
    for (int i = 0; i < PROCESSES; i++)
        add(&job, 10, 0);
    for (int sample = 0; sample < SAMPLES; sample++) {
        CHECK_U64(count_requests(&job, asked), A_SAMPLE);
        for (uint32_t i = 0; i < PROCESSES; i++)
            job.table.item[i].minor_faults++; /* all of them run */
    }
    for (int i = 0; i < PROCESSES; i++)
        CHECK(asked[i] > 0);
    job_done(&job);
}

static void a_status_that_cannot_have_changed_is_not_read(void)
{
    struct job job;
    unsigned asked[3] = {0};
    job_init(&job);
    for (int i = 0; i < 3; i++)
        add(&job, 10, 0);
    CHECK_U64(count_requests(&job, asked), 3);
    CHECK_U64(count_requests(&job, asked), 0);
    job.table.item[1].minor_faults++;
    CHECK_U64(count_requests(&job, asked), 1);
    CHECK_U64(asked[1], 2);
    /* A zombie has no memory. */
    job.table.item[0].state = job.table.item[2].state = 'Z';
    trk__peak_begin(&job.peak, &job.table);
    CHECK_U64(trk__peak_next_status(&job.peak, &job.table), TRK_NO_PROCESS);
    job_done(&job);
}

/* Beyond its turn: one that was never read has faulted far more than it holds. */
static void one_whose_peak_is_unbounded_is_read_at_once(void)
{
    enum { PROCESSES = 20, A_SAMPLE = 4 + PROCESSES / 10 };
    struct job job;
    unsigned asked[PROCESSES] = {0};
    job_init(&job);
    for (int i = 0; i < PROCESSES; i++)
        add(&job, 10, 0);
    for (uint32_t i = 0; i < PROCESSES; i++)
        job.table.item[i].minor_faults = (10 + 2) * PAGES_A_MIB;
    CHECK_U64(count_requests(&job, asked), PROCESSES);
    job_done(&job);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(a_spike_between_samples_is_in_a_narrow_bracket),
        TEST(an_old_peak_rss_does_not_lift_later_samples),
        TEST(spikes_that_can_overlap_are_allowed_for),
        TEST(copies_of_one_parent_allow_no_more_than_their_shared_sum),
        TEST(one_that_was_never_read_is_as_large_as_the_largest_that_exited),
        TEST(without_events_faults_and_forks_bound_how_many_were_unseen),
        TEST(faults_since_its_status_are_allowed_for),
        TEST(huge_faults_before_the_first_reading_belong_to_no_process_of_the_job),
        TEST(an_exit_with_few_faults_more_is_bounded_by_them),
        TEST(an_exit_with_many_faults_more_can_be_as_large_as_the_largest),
        TEST(a_status_without_memory_is_an_exit),
        TEST(an_exit_record_raises_what_no_sample_saw),
        TEST(the_status_of_a_large_job_is_read_in_turns),
        TEST(a_status_that_cannot_have_changed_is_not_read),
        TEST(one_whose_peak_is_unbounded_is_read_at_once),
    };
    return CHECK_MAIN(argc, argv, tests);
}
