/* What the account needs to know next. */
#include "account/account.h"

static bool is_below(const struct trk_process_table *table, uint32_t index, uint32_t ancestor)
{
    uint32_t at = trk__process_parent(table, index);
    while (at != TRK_NO_PROCESS && at != ancestor)
        at = trk__process_parent(table, at);
    return at == ancestor;
}

/* Once in a scan, so that a read that fails is not requested for ever. */
static bool ask(struct trk_account *account, uint32_t index, enum trk_request_kind kind,
                struct trk_request *ret_request)
{
    if (account->process[index].asked_scan == account->scan)
        return false;
    account->process[index].asked_scan = account->scan;
    *ret_request = (struct trk_request){kind, index};
    return true;
}

/* The usage of a process that is gone is in the figures of its nearest ancestor, as soon as those are read. One that is
 * running shows the CPU clock of its last jiffy, so it can seem not to have run; but it has just waited for a child. */
static bool ask_for_ancestor(struct trk_account *account, struct trk_request *ret_request)
{
    const struct trk_process_table *table = &account->table;
    for (uint32_t i = 0; i < table->count; i++) {
        uint32_t index = table->order[i];
        if (!table->item[index].is_gone || !table->item[index].is_read ||
            account->process[index].is_credited)
            continue;
        uint32_t ancestor = trk__account_living_ancestor(account, index);
        if (ancestor != TRK_NO_PROCESS && table->item[ancestor].read_scan != account->scan &&
            ask(account, ancestor, TRK_REQUEST_READ, ret_request))
            return true;
    }
    return false;
}

/* A zombie that the tracker is about to reap: children that it had reaped are in its figures. */
static bool ask_for_zombie(struct trk_account *account, struct trk_request *ret_request)
{
    const struct trk_process_table *table = &account->table;
    if (account->zombie == TRK_NO_PROCESS)
        return false;
    while (account->requests.cursor > 0) {
        uint32_t index = table->order[--account->requests.cursor];
        if (index != account->zombie && table->item[index].is_read && !table->item[index].is_gone &&
            is_below(table, index, account->zombie) &&
            ask(account, index, TRK_REQUEST_CHECK, ret_request))
            return true;
    }
    return (table->item[account->zombie].read_scan != account->scan &&
            ask(account, account->zombie, TRK_REQUEST_READ, ret_request)) ||
           ask_for_ancestor(account, ret_request);
}

/* A child that ran when it was read can have been reaped before its parent was read: then the parent shows its usage too.
 * Only parents with unexplained growth are worth the check. */
static bool ask_for_raced(struct trk_account *account, struct trk_request *ret_request)
{
    const struct trk_process_table *table = &account->table;
    while (account->requests.cursor > 0 && account->zombie == TRK_NO_PROCESS) {
        uint32_t index = table->order[--account->requests.cursor];
        uint32_t parent = trk__process_parent(table, index);
        if (parent != TRK_NO_PROCESS && table->item[index].is_read && !table->item[index].is_gone &&
            !table->item[parent].is_gone &&
            trk__usage_is_unexplained(&account->process[parent].usage)) {
            *ret_request = (struct trk_request){TRK_REQUEST_CHECK, index};
            return true;
        }
    }
    return false;
}

static bool ask_for_peaks(struct trk_account *account, struct trk_request *ret_request)
{
    uint32_t root = trk__process_find(&account->table, account->options.root_pid);
    if (account->zombie != TRK_NO_PROCESS)
        return false;
    /* A zombie still shows the signals that it ignored. */
    if (root != TRK_NO_PROCESS && trk__process_is_zombie(&account->table.item[root]) &&
        !account->table.item[root].is_gone && ask(account, root, TRK_REQUEST_STATUS, ret_request))
        return true;
    /* Also where no status can be read: what a process of an attached job faults in is bounded from its first read on. */
    if (trk__peak_wants_huge(&account->peak, &account->table)) {
        *ret_request = (struct trk_request){TRK_REQUEST_HUGE, TRK_NO_PROCESS};
        return true;
    }
    if (!account->source[TRK_BY_HWM].is_open)
        return false;
    uint32_t index = trk__peak_next_status(&account->peak, &account->table);
    *ret_request = (struct trk_request){TRK_REQUEST_STATUS, index};
    return index != TRK_NO_PROCESS;
}

static bool ask_once(bool *asked, enum trk_request_kind kind, struct trk_request *ret_request)
{
    if (*asked)
        return false;
    *asked = true;
    *ret_request = (struct trk_request){kind, TRK_NO_PROCESS};
    return true;
}

/* The counter makes the kernel switch perf events on, which takes milliseconds on an idle machine: it is opened only
 * where the total needs it. In a storm it replaces events and records, which slow the job down. */
static bool ask_for_counter(struct trk_account *account, struct trk_request *ret_request)
{
    struct trk_request_state *requests = &account->requests;
    bool is_storm = account->exits.is_storm && account->source[TRK_BY_EVENTS].is_open;
    bool is_needed = is_storm || !account->options.is_child || trk__account_may_lack(account);
    if (!is_needed || account->root.is_gone || !(account->options.wanted >> TRK_BY_PERF & 1))
        return false;
    if (ask_once(&requests->has_counter, TRK_REQUEST_COUNTER, ret_request))
        return true;
    return is_storm && account->source[TRK_BY_PERF].is_open &&
           ask_once(&requests->has_no_events, TRK_REQUEST_NO_EVENTS, ret_request);
}

bool trk__account_request(struct trk_account *account, struct trk_request *ret_request)
{
    struct trk_request_state *requests = &account->requests;
    if (requests->step != account->step || requests->scan != account->scan) {
        requests->step = account->step;
        requests->scan = account->scan;
        requests->cursor = account->table.count;
    }
    switch (account->step) {
    case TRK_STEP_SCANNED:
        return ask_for_ancestor(account, ret_request);
    case TRK_STEP_ZOMBIE:
        return ask_for_zombie(account, ret_request);
    case TRK_STEP_CREDIT:
        return ask_for_raced(account, ret_request);
    case TRK_STEP_SETTLE:
        return ask_for_peaks(account, ret_request);
    case TRK_STEP_DRAINED:
    case TRK_STEP_SAMPLE:
    case TRK_STEP_ROW:
        return ask_for_counter(account, ret_request);
    case TRK_STEP_FINISH:
        if (trk__account_was_killed(account) &&
            ask_once(&requests->has_log, TRK_REQUEST_KERNEL_LOG, ret_request))
            return true;
        return !trk__account_cpu(account, false, false).is_split &&
               ask_once(&requests->has_teardown, TRK_REQUEST_TEARDOWN, ret_request);
    case TRK_STEP_SCAN:
        break;
    }
    return false;
}
