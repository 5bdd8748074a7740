/* The one table of processes: stable indices, PID reuse, removal. */
#include "account/process_table.h"
#include "check.h"

static bool is_marked_gone(void *state, uint32_t index)
{
    const struct trk_process_table *table = state;
    return table->item[index].is_gone;
}

static void an_index_is_stable_while_others_come_and_go(void)
{
    struct trk_process_table table = {0};
    CHECK_U64(trk__process_find(&table, 7), TRK_NO_PROCESS);
    uint32_t root = trk__process_add(&table, 7, 1, 100);
    uint32_t first = trk__process_add(&table, 8, 7, 110);
    uint32_t second = trk__process_add(&table, 9, 7, 120);
    CHECK_U64(trk__process_find(&table, 8), first);
    table.item[first].is_gone = true;
    trk__process_remove(&table, is_marked_gone, &table);
    CHECK_U64(table.count, 2);
    CHECK_U64(trk__process_find(&table, 8), TRK_NO_PROCESS);
    CHECK_U64(trk__process_find(&table, 7), root);
    CHECK_U64(trk__process_find(&table, 9), second);
    CHECK_U64(table.item[second].start_ticks, 120);
    CHECK_U64(table.item[first].serial, 0); /* not in use */
    CHECK(table.order[0] == root && table.order[1] == second);
    CHECK_U64(trk__process_find(&table, 0), TRK_NO_PROCESS);
    CHECK_U64(trk__process_find(&table, -1), TRK_NO_PROCESS);
    trk__process_table_done(&table);
}

static void an_index_is_used_again_with_another_serial(void)
{
    struct trk_process_table table = {0};
    uint32_t first = trk__process_add(&table, 8, 7, 110);
    uint64_t serial = table.item[first].serial;
    memcpy(table.item[first].comm, "old", 4);
    table.item[first].is_gone = table.item[first].is_read = true;
    trk__process_remove(&table, is_marked_gone, &table);
    uint32_t next = trk__process_add(&table, 9, 7, 130);
    CHECK_U64(next, first);
    CHECK(table.item[next].serial > serial);
    CHECK_TEXT(table.item[next].comm, "");
    CHECK(!table.item[next].is_gone && !table.item[next].is_read);
    CHECK_U64(table.used, 1);
    CHECK_U64(table.serials, 2);
    trk__process_table_done(&table);
}

/* The old one stays in the table until its sources have reported everything. */
static void a_pid_that_is_used_again_finds_the_newest(void)
{
    struct trk_process_table table = {0};
    trk__process_add(&table, 7, 1, 100);
    uint32_t old = trk__process_add(&table, 8, 7, 110);
    uint32_t child = trk__process_add(&table, 9, 8, 115);
    uint32_t new = trk__process_add(&table, 8, 7, 500);
    CHECK(new != old);
    CHECK_U64(trk__process_find(&table, 8), new);
    CHECK_U64(table.count, 4);
    CHECK_U64(trk__process_parent(&table, child), TRK_NO_PROCESS); /* the new one is younger */
    table.item[old].is_gone = true;
    trk__process_remove(&table, is_marked_gone, &table);
    CHECK_U64(trk__process_find(&table, 8), new); /* the removal of the old one leaves it */
    CHECK_U64(table.item[new].start_ticks, 500);
    trk__process_table_done(&table);
}

static void a_parent_is_older_and_in_the_job(void)
{
    struct trk_process_table table = {0};
    uint32_t root = trk__process_add(&table, 7, 1, 100);
    uint32_t child = trk__process_add(&table, 8, 7, 100);
    CHECK_U64(trk__process_parent(&table, child), root);
    CHECK_U64(trk__process_parent(&table, root), TRK_NO_PROCESS);
    table.item[child].ppid = 1; /* the root has exited */
    CHECK_U64(trk__process_parent(&table, child), TRK_NO_PROCESS);
    table.item[root].ppid = 7; /* no process is its own parent */
    CHECK_U64(trk__process_parent(&table, root), TRK_NO_PROCESS);
    trk__process_table_done(&table);
}

static void those_that_run_are_counted(void)
{
    struct trk_process_table table = {0};
    uint32_t seen = trk__process_add(&table, 7, 1, 100);
    uint32_t zombie = trk__process_add(&table, 8, 7, 110);
    uint32_t gone = trk__process_add(&table, 9, 7, 110);
    trk__process_add(&table, 10, 7, 0); /* known from its fork event alone */
    table.item[seen].is_seen = table.item[zombie].is_seen = table.item[gone].is_seen = true;
    CHECK_U64(trk__process_live_count(&table), 3);
    table.item[zombie].state = 'Z';
    table.item[gone].is_gone = true;
    CHECK_U64(trk__process_live_count(&table), 1);
    trk__process_table_done(&table);
}

/* PIDs come in turn and start over; at any time a few are open. */
static void a_storm_of_processes_needs_the_room_of_those_at_once(void)
{
    enum { PROCESSES = 200000, PIDS = 30000, AT_ONCE = 100 };
    struct trk_process_table table = {0};
    for (int i = 0; i < PROCESSES; i++) {
        uint32_t index = trk__process_add(&table, 1 + i % PIDS, 1, (uint64_t)i);
        REQUIRE(index != TRK_NO_PROCESS && index < 2 * AT_ONCE);
        table.item[index].is_gone = true;
        if (i % AT_ONCE == AT_ONCE - 1)
            trk__process_remove(&table, is_marked_gone, &table);
    }
    CHECK_U64(table.count, 0);
    CHECK_U64(table.by_pid.count, 0);
    CHECK_U64(table.serials, PROCESSES);
    CHECK(table.used <= AT_ONCE && table.capacity <= 2 * AT_ONCE);
    trk__process_table_done(&table);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(an_index_is_stable_while_others_come_and_go),
        TEST(an_index_is_used_again_with_another_serial),
        TEST(a_pid_that_is_used_again_finds_the_newest),
        TEST(a_parent_is_older_and_in_the_job),
        TEST(those_that_run_are_counted),
        TEST(a_storm_of_processes_needs_the_room_of_those_at_once),
    };
    return CHECK_MAIN(argc, argv, tests);
}
