/*
 * ferrygate: the marshalling desk of a ferry terminal.
 *
 * A session is read from standard input, one command a line, and answered on standard output. Vehicles arrive for a
 * sailing, wait in lanes, and are loaded in the order of their standing. The exit status is 1 if a line was refused.
 *
 * Some rules moved on after the notes for release 2.1 were written. A build with one of the switches goes by the notes
 * for its rule, so that it can be measured how often it matters. The shipped build has none of these switches.
 *
 * trialbox-exposure-df9639bd332da1863cc7765da8fbe457
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 100
#define MAX_WORDS 16
#define MAX_LANES 6
#define MAX_SAILINGS 8
#define MAX_VEHICLES 64
#define MISS 15
#ifndef AS_SPEC_LONG_VEHICLES
#define LONG_VEHICLE 12
#endif

enum { OPEN, DEPARTED, CANCELLED };
enum { BIKE = 5 };

static const char *const kind_names[] = {"medic", "coach", "truck", "van", "car", "bike"};
static const int kind_standing[] = {60, 40, 30, 20, 20, 10};

struct lane {
    char name[9];
    int metres;
    int used;
    int open;
};

struct sailing {
    char name[9];
    int metres;
    int state;
};

struct vehicle {
    char plate[9];
    int kind;
    int metres;
    int lane;
    int place; /* order within its lane */
    int sailing;
    int standing;
    int misses;
};

static struct lane lanes[MAX_LANES];
static struct sailing sailings[MAX_SAILINGS];
static struct vehicle vehicles[MAX_VEHICLES]; /* in the order of arrival */
static int lane_count, sailing_count, vehicle_count;
static int places;
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

/* A name: a first letter between `low` and `high`, then up to seven letters of that case or digits. */
static int is_name(const char *word, char low, char high)
{
    int i;
    if (word[0] < low || word[0] > high)
        return 0;
    for (i = 1; word[i] != '\0'; i++) {
        if (i == 8)
            return 0;
        if (!((word[i] >= low && word[i] <= high) || (word[i] >= '0' && word[i] <= '9')))
            return 0;
    }
    return 1;
}

/* A number from 1 to `most` without sign or leading zero; 0 if it is none. */
static int number(const char *word, int most)
{
    int i, value = 0;
    if (word[0] == '0')
        return 0;
    for (i = 0; word[i] != '\0'; i++) {
        if (word[i] < '0' || word[i] > '9' || i == 4)
            return 0;
        value = value * 10 + (word[i] - '0');
    }
    return value <= most ? value : 0;
}

static int find_lane(const char *name)
{
    int i;
    for (i = 0; i < lane_count; i++)
        if (strcmp(lanes[i].name, name) == 0)
            return i;
    return -1;
}

static int find_sailing(const char *name)
{
    int i;
    for (i = 0; i < sailing_count; i++)
        if (strcmp(sailings[i].name, name) == 0)
            return i;
    return -1;
}

static int find_vehicle(const char *plate)
{
    int i;
    for (i = 0; i < vehicle_count; i++)
        if (strcmp(vehicles[i].plate, plate) == 0)
            return i;
    return -1;
}

/* ------------------------------------------------------------------------------------------------------- lanes */

static int has_room(int lane, int metres)
{
    return lanes[lane].open && lanes[lane].metres - lanes[lane].used >= metres;
}

/* The lane for a vehicle of so many metres, or -1. */
static int choose_lane(int metres)
{
    int i, best = -1;
#ifndef AS_SPEC_LONG_VEHICLES
    if (metres > LONG_VEHICLE) {
        for (i = lane_count - 1; i >= 0; i--)
            if (has_room(i, metres))
                return i;
        return -1;
    }
#endif
    for (i = 0; i < lane_count; i++) {
        if (!has_room(i, metres))
            continue;
        if (best < 0 || lanes[i].metres - lanes[i].used > lanes[best].metres - lanes[best].used)
            best = i;
    }
    return best;
}

static void join_lane(struct vehicle *vehicle, int lane)
{
    vehicle->lane = lane;
    vehicle->place = ++places;
    lanes[lane].used += vehicle->metres;
}

static void remove_vehicle(int index)
{
    lanes[vehicles[index].lane].used -= vehicles[index].metres;
    vehicle_count--;
    memmove(&vehicles[index], &vehicles[index + 1], (size_t)(vehicle_count - index) * sizeof vehicles[0]);
}

/* The plates in a lane, front first. */
static int in_lane(int lane, char plates[][9])
{
    int i, last = 0, count = 0;
    for (;;) {
        int next = -1;
        for (i = 0; i < vehicle_count; i++)
            if (vehicles[i].lane == lane && vehicles[i].place > last &&
                (next < 0 || vehicles[i].place < vehicles[next].place))
                next = i;
        if (next < 0)
            return count;
        last = vehicles[next].place;
        strcpy(plates[count++], vehicles[next].plate);
    }
}

/* ---------------------------------------------------------------------------------------------------- sailings */

/* The plates that wait for a sailing, in loading order: standing first, then arrival. */
static int queue_of(int sailing, char plates[][9])
{
    int order[MAX_VEHICLES];
    int i, j, count = 0;
    for (i = 0; i < vehicle_count; i++) {
        if (vehicles[i].sailing != sailing)
            continue;
        for (j = count; j > 0 && vehicles[order[j - 1]].standing < vehicles[i].standing; j--)
            order[j] = order[j - 1];
        order[j] = i;
        count++;
    }
    for (i = 0; i < count; i++)
        strcpy(plates[i], vehicles[order[i]].plate);
    return count;
}

/* The open sailing that takes over the vehicles of another, or -1. */
static int next_sailing(int from)
{
    int i;
#ifdef AS_SPEC_NEXT_AFTER
    from = sailing_count - 1;
#endif
    for (i = 1; i <= sailing_count; i++) {
        int at = (from + i) % sailing_count;
        if (sailings[at].state == OPEN)
            return at;
    }
    return -1;
}

static void print_plates(const char *name, const char *what, char plates[][9], int count)
{
    int i;
    printf("%s%s", name, what);
    for (i = 0; i < count; i++)
        printf(" %s", plates[i]);
    if (count == 0)
        printf(" -");
    putchar('\n');
}

/* Move vehicles to the sailing that takes over from another, or home; say which. */
static void carry_over(int from, char plates[][9], int count, const char *what)
{
    char moved[MAX_VEHICLES][9], home[MAX_VEHICLES][9];
    int i, moved_count = 0, home_count = 0;
    int target = next_sailing(from);
    for (i = 0; i < count; i++) {
        int index = find_vehicle(plates[i]);
        int goes_home = target < 0;
#ifndef AS_SPEC_THIRD_MISS
        goes_home |= vehicles[index].misses == 3;
#endif
        if (goes_home) {
            strcpy(home[home_count++], plates[i]);
            remove_vehicle(index);
        } else {
            strcpy(moved[moved_count++], plates[i]);
            vehicles[index].sailing = target;
        }
    }
    if (moved_count > 0)
        print_plates(sailings[from].name, what, moved, moved_count);
    if (home_count > 0)
        print_plates(sailings[from].name, " sends home", home, home_count);
}

static int deck_metres(const struct vehicle *vehicle)
{
#ifndef AS_SPEC_BIKE_DECKS
    if (vehicle->kind == BIKE)
        return (vehicle->metres + 1) / 2;
#endif
    return vehicle->metres;
}

static void depart(int sailing)
{
    char order[MAX_VEHICLES][9], loaded[MAX_VEHICLES][9], left[MAX_VEHICLES][9];
    int i, count, loaded_count = 0, left_count = 0, failures = 0;
    int room = sailings[sailing].metres;

    count = queue_of(sailing, order);
    for (i = 0; i < count; i++) {
        int index = find_vehicle(order[i]);
        int metres = deck_metres(&vehicles[index]);
        int fits = metres <= room;
#ifndef AS_SPEC_THREE_IN_A_ROW
        fits &= failures < 3;
#endif
        if (!fits) {
            failures++;
            vehicles[index].misses++;
            vehicles[index].standing += MISS;
#ifndef AS_SPEC_LATER_MISSES
            if (vehicles[index].misses > 1)
                vehicles[index].standing += MISS;
#endif
            strcpy(left[left_count++], order[i]);
        } else {
            failures = 0;
            room -= metres;
            strcpy(loaded[loaded_count++], order[i]);
            remove_vehicle(index);
        }
    }
    sailings[sailing].state = DEPARTED;
    print_plates(sailings[sailing].name, " loads", loaded, loaded_count);
    carry_over(sailing, left, left_count, " leaves");
}

/* ---------------------------------------------------------------------------------------------------- commands */

static void do_lane(void)
{
    int metres;
    if (!is_name(words[1], 'a', 'z')) {
        refuse("name");
    } else if ((metres = number(words[2], 200)) == 0) {
        refuse("number");
    } else if (find_lane(words[1]) >= 0) {
        refuse("taken");
    } else if (lane_count == MAX_LANES) {
        refuse("full");
    } else {
        struct lane *lane = &lanes[lane_count++];
        strcpy(lane->name, words[1]);
        lane->metres = metres;
        lane->open = 1;
        printf("%s: lane of %d\n", lane->name, metres);
    }
}

static void do_sailing(void)
{
    int metres;
    if (!is_name(words[1], 'a', 'z')) {
        refuse("name");
    } else if ((metres = number(words[2], 500)) == 0) {
        refuse("number");
    } else if (find_sailing(words[1]) >= 0) {
        refuse("taken");
    } else if (sailing_count == MAX_SAILINGS) {
        refuse("full");
    } else {
        struct sailing *sailing = &sailings[sailing_count++];
        strcpy(sailing->name, words[1]);
        sailing->metres = metres;
        sailing->state = OPEN;
        printf("%s: deck of %d\n", sailing->name, metres);
    }
}

static void do_arrive(void)
{
    int kind, metres, sailing, lane;
    for (kind = 0; kind <= BIKE; kind++)
        if (strcmp(words[2], kind_names[kind]) == 0)
            break;
    metres = number(words[3], 30);
    if (!is_name(words[1], 'A', 'Z')) {
        refuse("name");
    } else if (kind > BIKE) {
        refuse("kind");
    } else if (metres == 0) {
        refuse("number");
    } else if (!is_name(words[4], 'a', 'z')) {
        refuse("name");
    } else if ((sailing = find_sailing(words[4])) < 0) {
        refuse("missing");
    } else if (sailings[sailing].state != OPEN) {
        refuse("gone");
    } else if (find_vehicle(words[1]) >= 0) {
        refuse("taken");
    } else if (vehicle_count == MAX_VEHICLES) {
        refuse("full");
    } else if ((lane = choose_lane(metres)) < 0) {
        printf("%s: turned away\n", words[1]);
    } else {
        struct vehicle *vehicle = &vehicles[vehicle_count++];
        memset(vehicle, 0, sizeof *vehicle);
        strcpy(vehicle->plate, words[1]);
        vehicle->kind = kind;
        vehicle->metres = metres;
        vehicle->sailing = sailing;
        vehicle->standing = kind_standing[kind];
        join_lane(vehicle, lane);
        printf("%s: lane %s\n", vehicle->plate, lanes[lane].name);
    }
}

static void do_leave(void)
{
    int index;
    if (!is_name(words[1], 'A', 'Z')) {
        refuse("name");
    } else if ((index = find_vehicle(words[1])) < 0) {
        refuse("missing");
    } else {
        remove_vehicle(index);
        printf("%s: left\n", words[1]);
    }
}

/* queue, depart and cancel: all take an open sailing. */
static void do_with_sailing(char command)
{
    char plates[MAX_VEHICLES][9];
    int sailing, count;
    if (!is_name(words[1], 'a', 'z')) {
        refuse("name");
    } else if ((sailing = find_sailing(words[1])) < 0) {
        refuse("missing");
    } else if (sailings[sailing].state != OPEN) {
        refuse("gone");
    } else if (command == 'd') {
        depart(sailing);
    } else {
        count = queue_of(sailing, plates);
        if (command == 'q') {
            print_plates(words[1], ":", plates, count);
        } else {
            sailings[sailing].state = CANCELLED;
            printf("%s: cancelled\n", words[1]);
            carry_over(sailing, plates, count, " moves");
        }
    }
}

static void close_lane(int lane)
{
    char plates[MAX_VEHICLES][9];
    int i, count = in_lane(lane, plates);
    lanes[lane].open = 0;
    for (i = 0; i < count; i++) {
        int index = find_vehicle(plates[i]);
        int target = choose_lane(vehicles[index].metres);
#ifndef AS_SPEC_MISSED_STAYS
        if (target < 0 && vehicles[index].misses > 0)
            target = lane;
#endif
        if (target < 0) {
            remove_vehicle(index);
            printf("%s: turned away\n", plates[i]);
        } else {
            if (target != lane) {
                lanes[lane].used -= vehicles[index].metres;
                join_lane(&vehicles[index], target);
            }
            printf("%s: lane %s\n", plates[i], lanes[target].name);
        }
    }
    printf("%s: closed\n", lanes[lane].name);
}

static void do_with_lane(char command)
{
    int lane;
    if (!is_name(words[1], 'a', 'z')) {
        refuse("name");
    } else if ((lane = find_lane(words[1])) < 0) {
        refuse("missing");
    } else if (command == 'c') {
        if (lanes[lane].open)
            close_lane(lane);
        else
            refuse("closed");
    } else if (lanes[lane].open) {
        refuse("open");
    } else {
        lanes[lane].open = 1;
        printf("%s: open\n", lanes[lane].name);
    }
}

static void do_lanes(void)
{
    char plates[MAX_VEHICLES][9], what[40];
    int i;
    for (i = 0; i < lane_count; i++) {
        sprintf(what, "%s %d/%d:", lanes[i].open ? "" : " closed", lanes[i].used, lanes[i].metres);
        print_plates(lanes[i].name, what, plates, in_lane(i, plates));
    }
}

/* ------------------------------------------------------------------------------------------------------- main */

struct command {
    const char *name;
    int words;
};

static const struct command commands[] = {
    {"lane", 3},  {"sailing", 3}, {"arrive", 5}, {"leave", 2}, {"queue", 2},
    {"depart", 2}, {"cancel", 2}, {"close", 2},  {"open", 2},  {"lanes", 1},
};

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
    if (word_count != commands[which].words) {
        refuse("words");
        return;
    }
    switch (which) {
    case 0: do_lane(); break;
    case 1: do_sailing(); break;
    case 2: do_arrive(); break;
    case 3: do_leave(); break;
    case 4: do_with_sailing('q'); break;
    case 5: do_with_sailing('d'); break;
    case 6: do_with_sailing('c'); break;
    case 7: do_with_lane('c'); break;
    case 8: do_with_lane('o'); break;
    default: do_lanes(); break;
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
