/*
 * signalbox: the interlocking of a small signal box.
 *
 * A session is read from standard input, one command a line, and answered on standard output. Routes lock the blocks
 * they lead over, trains run along them, and blocks are given back some time after a train has left them. The exit
 * status is 1 if a line was refused.
 *
 * Some rules moved on after the description of release 4.2 was written. A build with one of the switches goes by the
 * description for its rule, so that it can be measured how often it matters. The shipped build has none of them.
 *
 * trialbox-exposure-e2a71701da4d241861cfe04a0ca70d24
 */
#include <stdio.h>
#include <string.h>

#define LINE_BYTES 100
#define MAX_WORDS 20
#define MAX_BLOCKS 16
#define MAX_ROUTES 12
#define MAX_TRAINS 10
#define MAX_PATH 6

#define RELEASE 3
#ifndef AS_SPEC_SIGNAL_BLOCK
#define SIGNAL_RELEASE 5
#endif
#ifdef AS_SPEC_LOCK_TIME
#define LOCK_TIME(route) ((void)(route), 8)
#else
#define LOCK_TIME(route) (4 * (route)->length)
#endif
#ifndef AS_SPEC_LAPSED_REQUESTS
#define PATIENCE 40
#endif

enum { NOBODY = -1 };

enum route_state { IDLE, WAITING, SET, TIMING };

struct block {
    char name[7];
    int train;   /* index, or NOBODY */
    int route;   /* the route that has locked it, or NOBODY */
    int release; /* the time at which it is given back; 0 if it is not being released */
};

struct route {
    char name[7];
    int approach;
    int path[MAX_PATH];
    int length;
    enum route_state state;
    int order; /* of its request, while it waits */
    int since; /* when it was requested, while it waits */
    int until; /* when its lock ends, while it is timing */
    int train; /* that has run into it, or NOBODY */
};

struct train {
    char name[6];
    int present;
    int block;
    int route; /* the one it runs along, or NOBODY */
    int place; /* the path block it is in */
};

static struct block blocks[MAX_BLOCKS];
static struct route routes[MAX_ROUTES];
static struct train trains[MAX_TRAINS];
static int block_count, route_count;
static int now;
static int requests;
static int line_number;
static int refusals;

static char line[LINE_BYTES + 1];
static char *words[MAX_WORDS];
static int word_count;

static void refuse(const char *why)
{
    printf("line %d: %s\n", line_number, why);
    refusals++;
}

/* ---------------------------------------------------------------------------------------------------- reading */

/* One line into `line`; 0 at the end, 1 for a line, 2 for one that is too long, 3 for one with a strange byte. */
static int read_line(void)
{
    int c, length = 0, strange = 0;
    while ((c = getchar()) != EOF && c != '\n') {
        if (c != '\t' && c != '\r' && (c < 32 || c > 126))
            strange = 1;
        if (length < LINE_BYTES)
            line[length] = (char)c;
        length++;
    }
    if (c == EOF && length == 0)
        return 0;
    line[length < LINE_BYTES ? length : LINE_BYTES] = '\0';
    if (length > LINE_BYTES)
        return 2;
    return strange ? 3 : 1;
}

static int is_gap(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void split(void)
{
    char *at = line;
    word_count = 0;
    for (;;) {
        while (is_gap(*at))
            *at++ = '\0';
        if (*at == '\0')
            return;
        if (word_count < MAX_WORDS)
            words[word_count] = at;
        word_count++;
        while (*at != '\0' && !is_gap(*at))
            at++;
    }
}

/* A first character from `first` to `last`, then up to `more` of those letters (of `low` to `high`) or digits. */
static int is_name(const char *word, char first, char last, char low, char high, int more)
{
    int i;
    if (word[0] < first || word[0] > last)
        return 0;
    for (i = 1; word[i] != '\0'; i++) {
        if (i > more)
            return 0;
        if (!((word[i] >= low && word[i] <= high) || (word[i] >= '0' && word[i] <= '9')))
            return 0;
    }
    return 1;
}

#define is_block_name(word) is_name(word, 'a', 'z', 'a', 'z', 5)
#define is_route_name(word) is_name(word, 'A', 'Z', 'A', 'Z', 5)
#define is_train_name(word) is_name(word, '1', '9', 'A', 'Z', 4)

static int find_block(const char *name)
{
    int i;
    for (i = 0; i < block_count; i++)
        if (strcmp(blocks[i].name, name) == 0)
            return i;
    return NOBODY;
}

static int find_route(const char *name)
{
    int i;
    for (i = 0; i < route_count; i++)
        if (strcmp(routes[i].name, name) == 0)
            return i;
    return NOBODY;
}

static int find_train(const char *name)
{
    int i;
    for (i = 0; i < MAX_TRAINS; i++)
        if (trains[i].present && strcmp(trains[i].name, name) == 0)
            return i;
    return NOBODY;
}

/* ----------------------------------------------------------------------------------------------------- locking */

static int is_clear(const struct block *block)
{
    return block->train == NOBODY && block->route == NOBODY && block->release == 0;
}

static int can_be_set(const struct route *route)
{
    int i;
    for (i = 0; i < route->length; i++) {
        const struct block *block = &blocks[route->path[i]];
#ifndef AS_SPEC_LAST_BLOCK
        if (i > 0 && i == route->length - 1 && block->train == NOBODY && block->route == NOBODY)
            continue;
#endif
        if (!is_clear(block))
            return 0;
    }
    return 1;
}

static void lock(int index)
{
    struct route *route = &routes[index];
    int i;
    route->state = SET;
    route->train = NOBODY;
    for (i = 0; i < route->length; i++) {
        blocks[route->path[i]].route = index;
        blocks[route->path[i]].release = 0;
    }
}

/* Give back the blocks that a route still holds. */
static void unlock(int index)
{
    int i;
    for (i = 0; i < block_count; i++)
        if (blocks[i].route == index)
            blocks[i].route = NOBODY;
    routes[index].state = IDLE;
}

/* Whether a waiting route comes before another. */
static int comes_before(const struct route *one, const struct route *other)
{
#ifndef AS_SPEC_WAITING_TRAINS
    int one_has = blocks[one->approach].train != NOBODY;
    int other_has = blocks[other->approach].train != NOBODY;
    if (one_has != other_has)
        return one_has;
#endif
    return one->order < other->order;
}

/* Set what can be set of the routes that wait. */
static void serve_waiting(void)
{
    int order[MAX_ROUTES];
    int i, j, count = 0;
    for (i = 0; i < route_count; i++) {
        if (routes[i].state != WAITING)
            continue;
        for (j = count; j > 0 && comes_before(&routes[i], &routes[order[j - 1]]); j--)
            order[j] = order[j - 1];
        order[j] = i;
        count++;
    }
    for (i = 0; i < count; i++) {
        if (can_be_set(&routes[order[i]])) {
            lock(order[i]);
            printf("@%d %s: set\n", now, routes[order[i]].name);
        }
    }
}

static void vacate(struct block *block, int release)
{
    block->train = NOBODY;
    block->route = NOBODY;
    block->release = release == 0 ? 0 : now + release;
}

/* Whether a train is near enough to a set route that it must not be taken from it at once. */
static int is_approached(const struct route *route)
{
    if (blocks[route->approach].train != NOBODY)
        return 1;
#ifndef AS_SPEC_FAR_APPROACH
    int i;
    for (i = 0; i < route_count; i++)
        if (routes[i].state == SET && routes[i].train != NOBODY &&
            routes[i].path[routes[i].length - 1] == route->approach)
            return 1;
#endif
    return 0;
}

static void tick(void)
{
    int i;
    now++;
    for (i = 0; i < block_count; i++) {
        if (blocks[i].release == now) {
            blocks[i].release = 0;
            printf("@%d %s: clear\n", now, blocks[i].name);
        }
    }
    for (i = 0; i < route_count; i++) {
        if (routes[i].state == TIMING && routes[i].until == now) {
            unlock(i);
            printf("@%d %s: cancelled\n", now, routes[i].name);
        }
    }
    serve_waiting();
#ifndef AS_SPEC_LAPSED_REQUESTS
    for (i = 0; i < route_count; i++) {
        if (routes[i].state == WAITING && now - routes[i].since == PATIENCE) {
            routes[i].state = IDLE;
            printf("@%d %s: withdrawn\n", now, routes[i].name);
        }
    }
#endif
}

/* ---------------------------------------------------------------------------------------------------- commands */

static void do_block(void)
{
    if (!is_block_name(words[1])) {
        refuse("name");
    } else if (find_block(words[1]) != NOBODY) {
        refuse("taken");
    } else if (block_count == MAX_BLOCKS) {
        refuse("full");
    } else {
        struct block *block = &blocks[block_count++];
        strcpy(block->name, words[1]);
        block->train = NOBODY;
        block->route = NOBODY;
        printf("%s: block\n", block->name);
    }
}

static void do_route(void)
{
    struct route made;
    int i, j, all[MAX_PATH + 1];
    if (!is_route_name(words[1])) {
        refuse("name");
        return;
    }
    for (i = 0; i < word_count - 2; i++) {
        if (!is_block_name(words[i + 2])) {
            refuse("name");
            return;
        }
        if ((all[i] = find_block(words[i + 2])) == NOBODY) {
            refuse("missing");
            return;
        }
        for (j = 0; j < i; j++) {
            if (all[j] == all[i]) {
                refuse("twice");
                return;
            }
        }
    }
    if (find_route(words[1]) != NOBODY) {
        refuse("taken");
        return;
    }
    if (route_count == MAX_ROUTES) {
        refuse("full");
        return;
    }
    memset(&made, 0, sizeof made);
    strcpy(made.name, words[1]);
    made.approach = all[0];
    made.length = word_count - 3;
    memcpy(made.path, all + 1, (size_t)made.length * sizeof all[0]);
    made.train = NOBODY;
    routes[route_count++] = made;
    printf("%s: route of %d\n", made.name, made.length);
}

static void do_enter(void)
{
    int block, slot;
    for (slot = 0; slot < MAX_TRAINS; slot++)
        if (!trains[slot].present)
            break;
    if (!is_train_name(words[1]) || !is_block_name(words[2])) {
        refuse("name");
    } else if ((block = find_block(words[2])) == NOBODY) {
        refuse("missing");
    } else if (find_train(words[1]) != NOBODY) {
        refuse("taken");
    } else if (slot == MAX_TRAINS) {
        refuse("full");
    } else if (!is_clear(&blocks[block])) {
        refuse("blocked");
    } else {
        struct train *train = &trains[slot];
        strcpy(train->name, words[1]);
        train->present = 1;
        train->block = block;
        train->route = NOBODY;
        blocks[block].train = slot;
        printf("%s: in %s\n", train->name, blocks[block].name);
    }
}

static void do_set(int index)
{
    struct route *route = &routes[index];
    if (route->state != IDLE) {
        refuse("busy");
    } else if (can_be_set(route)) {
        lock(index);
        printf("%s: set\n", route->name);
    } else {
        route->state = WAITING;
        route->order = ++requests;
        route->since = now;
        printf("%s: waits\n", route->name);
    }
}

static void do_cancel(int index)
{
    struct route *route = &routes[index];
    if (route->state == IDLE) {
        refuse("idle");
    } else if (route->state == TIMING) {
        refuse("busy");
    } else if (route->state == WAITING) {
        route->state = IDLE;
        printf("%s: withdrawn\n", route->name);
    } else if (route->train != NOBODY) {
        refuse("used");
    } else if (is_approached(route)) {
        route->state = TIMING;
        route->until = now + LOCK_TIME(route);
        printf("%s: locked until %d\n", route->name, route->until);
    } else {
        unlock(index);
        printf("%s: cancelled\n", route->name);
        serve_waiting();
    }
}

static void do_run(int index)
{
    struct train *train = &trains[index];
    int from = train->block, i, release = RELEASE;
    struct route *route;

    if (train->route == NOBODY) {
        for (i = 0; i < route_count; i++)
            if (routes[i].state == SET && routes[i].train == NOBODY && routes[i].approach == from)
                break;
        if (i == route_count) {
            printf("%s: held in %s\n", train->name, blocks[from].name);
            return;
        }
        train->route = i;
        train->place = 0;
        routes[i].train = index;
    } else {
#ifndef AS_SPEC_SIGNAL_BLOCK
        if (train->place == 0)
            release = SIGNAL_RELEASE;
#endif
        train->place++;
    }
    route = &routes[train->route];
    vacate(&blocks[from], release);
    train->block = route->path[train->place];
    blocks[train->block].train = index;
    printf("%s: %s -> %s\n", train->name, blocks[from].name, blocks[train->block].name);
    if (train->place == route->length - 1) {
        unlock(train->route);
        route->train = NOBODY;
        train->route = NOBODY;
        printf("%s: done\n", route->name);
    }
}

static void do_leave(int index)
{
    struct train *train = &trains[index];
    int release = RELEASE;
#ifdef AS_SPEC_LEAVING_TRAINS
    release = 0;
#endif
    vacate(&blocks[train->block], release);
    train->present = 0;
    printf("%s: gone\n", train->name);
    if (train->route != NOBODY) {
        unlock(train->route);
        routes[train->route].train = NOBODY;
        printf("%s: given up\n", routes[train->route].name);
    }
    serve_waiting();
}

static void do_tick(void)
{
    int i, count = 0;
    for (i = 0; words[1][i] >= '0' && words[1][i] <= '9' && i < 2; i++)
        count = count * 10 + (words[1][i] - '0');
    if (words[1][i] != '\0' || words[1][0] == '0' || count < 1 || count > 60) {
        refuse("number");
        return;
    }
    for (i = 0; i < count; i++)
        tick();
    printf("@%d\n", now);
}

static void do_state(void)
{
    int i, count = 0;
    printf("@%d\n", now);
    for (i = 0; i < block_count; i++) {
        const struct block *block = &blocks[i];
        printf("%s: ", block->name);
        if (block->train != NOBODY)
            printf("%s\n", trains[block->train].name);
        else if (block->route != NOBODY)
            printf("set %s\n", routes[block->route].name);
        else
            printf("%s\n", block->release > 0 ? "releasing" : "clear");
    }
    printf("waiting:");
    for (i = 0; i < route_count; i++)
        if (routes[i].state == WAITING && ++count)
            printf(" %s", routes[i].name);
    printf("%s\n", count == 0 ? " -" : "");
}

/* -------------------------------------------------------------------------------------------------------- main */

static const struct command {
    const char *name;
    int least;
    int most;
} commands[] = {
    {"block", 2, 2}, {"route", 4, MAX_PATH + 3}, {"enter", 3, 3}, {"set", 2, 2},  {"cancel", 2, 2},
    {"run", 2, 2},   {"leave", 2, 2},            {"tick", 2, 2},  {"state", 1, 1},
};

static void with_route(void (*act)(int))
{
    int index;
    if (!is_route_name(words[1]))
        refuse("name");
    else if ((index = find_route(words[1])) == NOBODY)
        refuse("missing");
    else
        act(index);
}

static void with_train(void (*act)(int))
{
    int index;
    if (!is_train_name(words[1]))
        refuse("name");
    else if ((index = find_train(words[1])) == NOBODY)
        refuse("missing");
    else
        act(index);
}

static void obey(void)
{
    int which, known = (int)(sizeof commands / sizeof commands[0]);
    for (which = 0; which < known; which++)
        if (strcmp(words[0], commands[which].name) == 0)
            break;
    if (which == known) {
        refuse("unknown");
        return;
    }
    if (word_count < commands[which].least || word_count > commands[which].most) {
        refuse("words");
        return;
    }
    switch (which) {
    case 0: do_block(); break;
    case 1: do_route(); break;
    case 2: do_enter(); break;
    case 3: with_route(do_set); break;
    case 4: with_route(do_cancel); break;
    case 5: with_train(do_run); break;
    case 6: with_train(do_leave); break;
    case 7: do_tick(); break;
    default: do_state(); break;
    }
}

int main(void)
{
    int got;
    while ((got = read_line()) != 0) {
        line_number++;
        if (got == 2) {
            refuse("long");
        } else if (got == 3) {
            refuse("bytes");
        } else {
            split();
            if (word_count > 0 && words[0][0] != '#')
                obey();
        }
    }
    return refusals > 0 ? 1 : 0;
}
