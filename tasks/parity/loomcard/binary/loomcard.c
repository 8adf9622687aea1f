/*
 * loomcard: weaves the cards of a small dobby loom into rows of text.
 *
 * A session is read from standard input, one command a line, and answered on standard output. A card is a list of short
 * operations on the set of raised warp ends; each pick weaves a row. The exit status is 1 if a line was refused.
 *
 * Some rules moved on after the handbook of release 3.0 was written. A build with one of the switches goes by the
 * handbook for its rule, so that it can be measured how often it matters. The shipped build has none of these switches.
 *
 * trialbox-exposure-cf0cbba0c8c469ddacd3343441a9b254
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LINE_BYTES 200
#define MAX_WORDS 60
#define MAX_OPS 40
#define MAX_CARDS 16
#define MAX_WOVEN 12
#define MAX_NESTED 3
#define MOST_WORK 500
#define SHUTTLES 6
#ifndef AS_SPEC_SHUTTLE_CHANGE
#define CHANGE 2
#endif

struct op {
    char what;     /* the operation's first character; 'p' for a pick */
    int value;     /* rounds, distance, shuttle or card */
    uint32_t ends; /* for = + - */
};

struct card {
    char name[9];
    int length;
    struct op ops[MAX_OPS];
};

struct tally {
    int rows;
    int thread;
};

static struct card cards[MAX_CARDS];
static int card_count;
static int ends = 12;

/* The piece on the loom. */
static struct tally tallies[SHUTTLES];
static int rows;
#if !defined AS_SPEC_BLANK_CARDS || !defined AS_SPEC_SHUTTLE_CHANGE
static int last_shuttle;
#endif
#ifndef AS_SPEC_BLANK_CARDS
static uint32_t last_raised;
#endif
static int work;

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

static uint32_t every_end(void)
{
    return ends == 32 ? UINT32_MAX : (UINT32_C(1) << ends) - 1;
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

static int is_name(const char *word)
{
    int i;
    if (word[0] < 'a' || word[0] > 'z')
        return 0;
    for (i = 1; word[i] != '\0'; i++) {
        if (i == 8)
            return 0;
        if (!((word[i] >= 'a' && word[i] <= 'z') || (word[i] >= '0' && word[i] <= '9')))
            return 0;
    }
    return 1;
}

/* A number of one or two digits without a leading zero, moving on behind it; 0 if there is none. */
static int take_number(const char **at)
{
    int digits, value = 0;
    if (**at == '0')
        return 0;
    for (digits = 0; digits < 2 && **at >= '0' && **at <= '9'; digits++)
        value = value * 10 + (*(*at)++ - '0');
    return value;
}

/* A whole word that is a number between `least` and `most`; 0 if it is none. */
static int number(const char *word, int least, int most)
{
    int value = take_number(&word);
    return *word == '\0' && value >= least && value <= most ? value : 0;
}

static int find_card(const char *name)
{
    int i;
    for (i = 0; i < card_count; i++)
        if (strcmp(cards[i].name, name) == 0)
            return i;
    return -1;
}

/* --------------------------------------------------------------------------------------------- reading of cards */

static uint32_t span(int first, int last)
{
    uint32_t set = 0;
    for (; first <= last; first++)
        set |= UINT32_C(1) << (first - 1);
    return set;
}

/* A list of ends such as 1-4,7 into `set`; the fault's code or null. */
static const char *read_ends(const char *at, uint32_t *set)
{
    *set = 0;
    if (strcmp(at, ".") == 0)
        return NULL;
    if (strcmp(at, "*") == 0) {
        *set = every_end();
        return NULL;
    }
    for (;;) {
        int first = take_number(&at), last = first;
        if (first == 0)
            return "op";
        if (*at == '-') {
            at++;
            last = take_number(&at);
            if (last == 0)
                return "op";
        }
        if (*at != ',' && *at != '\0')
            return "op";
        if (first > ends || last > ends)
            return "end";
        if (first <= last)
            *set |= span(first, last);
        else
#ifdef AS_SPEC_TURNED_RANGES
            *set |= span(last, first);
#else
            *set |= span(first, ends) | span(1, last);
#endif
        if (*at == '\0')
            return NULL;
        at++;
    }
}

/* One word into an operation; the fault's code or null. */
static const char *read_op(const char *word, struct op *op)
{
    op->what = word[0];
    op->value = 0;
    op->ends = 0;
    switch (word[0]) {
    case '=': case '+': case '-':
        return read_ends(word + 1, &op->ends);
    case '>': case '<':
        op->value = number(word + 1, 1, 99);
        return op->value == 0 ? "op" : NULL;
    case ']':
        op->value = number(word + 1, 2, 9);
        return op->value == 0 ? "op" : NULL;
    case '@':
        if (!is_name(word + 1))
            return "op";
        op->value = find_card(word + 1);
        return op->value < 0 ? "missing" : NULL;
    case '~': case '%': case '!': case '?': case '[':
        return word[1] != '\0' ? "op" : NULL;
    default:
        if (word[0] < 'a' || word[0] >= 'a' + SHUTTLES || word[1] != '\0')
            return "op";
        op->what = 'p';
        op->value = word[0] - 'a';
        return NULL;
    }
}

/* Words into the operations of a card; the fault's code or null. */
static const char *read_ops(char **word, int count, struct op *ops)
{
    int i, open = 0;
    for (i = 0; i < count; i++) {
        const char *fault = read_op(word[i], &ops[i]);
        if (fault != NULL)
            return fault;
        if (ops[i].what == '[' && ++open > MAX_NESTED)
            return "loop";
        if (ops[i].what == ']' && --open < 0)
            return "loop";
    }
    return open > 0 ? "loop" : NULL;
}

/* ----------------------------------------------------------------------------------------------------- weaving */

static void weave_row(int shuttle, uint32_t raised)
{
    int i, thread = 0;
    printf("%d %c ", rows + 1, 'a' + shuttle);
    for (i = 0; i < ends; i++) {
        int up = (int)((raised >> i) & 1);
        putchar(up ? '|' : '-');
        thread += !up;
    }
    putchar('\n');
#ifndef AS_SPEC_SHUTTLE_CHANGE
    if (rows > 0 && shuttle != last_shuttle)
        thread += CHANGE;
#endif
    tallies[shuttle].rows++;
    tallies[shuttle].thread += thread;
#if !defined AS_SPEC_BLANK_CARDS || !defined AS_SPEC_SHUTTLE_CHANGE
    last_shuttle = shuttle;
#endif
#ifndef AS_SPEC_BLANK_CARDS
    last_raised = raised;
#endif
    rows++;
}

static uint32_t shift_right(uint32_t raised, int distance)
{
#ifndef AS_SPEC_LONG_SHIFTS
    if (distance >= ends)
        return 0;
#endif
    distance %= ends;
    if (distance == 0)
        return raised;
    return ((raised << distance) | (raised >> (ends - distance))) & every_end();
}

static uint32_t shift_left(uint32_t raised, int distance)
{
#ifdef AS_SPEC_LEFT_EDGE
    distance %= ends;
    if (distance == 0)
        return raised;
    return ((raised >> distance) | (raised << (ends - distance))) & every_end();
#else
    return distance >= ends ? 0 : raised >> distance;
#endif
}

static uint32_t mirror(uint32_t raised)
{
    uint32_t turned = 0;
    int i;
    for (i = 0; i < ends; i++)
        if ((raised >> i) & 1)
            turned |= UINT32_C(1) << (ends - 1 - i);
    return turned;
}

/* Weave a card from nothing raised and the given mark; 0 if the work ran out. */
static int weave_card(const struct card *card, uint32_t mark)
{
    int starts[MAX_NESTED], rounds[MAX_NESTED];
#ifdef AS_SPEC_LOOP_CARRY
    uint32_t entered[MAX_NESTED];
#endif
    uint32_t raised = 0;
    int at, open = 0;

#ifndef AS_SPEC_BLANK_CARDS
    if (card->length == 0 && rows > 0)
        weave_row(last_shuttle, last_raised);
#endif
    for (at = 0; at < card->length; at++) {
        const struct op *op = &card->ops[at];
        if (++work > MOST_WORK)
            return 0;
        switch (op->what) {
        case '=': raised = op->ends; break;
        case '+': raised |= op->ends; break;
        case '-': raised &= ~op->ends; break;
        case '~': raised ^= every_end(); break;
        case '%': raised = mirror(raised); break;
        case '>': raised = shift_right(raised, op->value); break;
        case '<': raised = shift_left(raised, op->value); break;
        case '!': mark = raised; break;
        case '?': raised = mark; break;
        case 'p': weave_row(op->value, raised); break;
        case '@':
#ifdef AS_SPEC_LENT_MARKS
            if (!weave_card(&cards[op->value], 0))
#else
            if (!weave_card(&cards[op->value], mark))
#endif
                return 0;
            break;
        case '[':
            starts[open] = at;
            rounds[open] = 1;
#ifdef AS_SPEC_LOOP_CARRY
            entered[open] = raised;
#endif
            open++;
            break;
        default: /* ] */
            if (rounds[open - 1] == op->value) {
                open--;
            } else {
                rounds[open - 1]++;
                at = starts[open - 1];
#ifdef AS_SPEC_LOOP_CARRY
                raised = entered[open - 1];
#endif
            }
            break;
        }
    }
    return 1;
}

/* ---------------------------------------------------------------------------------------------------- commands */

static void do_ends(void)
{
    int wanted;
    if (word_count != 2) {
        refuse("words");
    } else if ((wanted = number(words[1], 2, 32)) == 0) {
        refuse("number");
    } else if (card_count > 0) {
        refuse("late");
    } else {
        ends = wanted;
        printf("ends: %d\n", ends);
    }
}

static void print_card(const struct card *card)
{
    printf("%s: %d ops\n", card->name, card->length);
}

static void do_card(void)
{
    struct op ops[MAX_OPS];
    const char *fault;
    if (word_count < 2 || word_count > MAX_OPS + 2) {
        refuse("words");
    } else if (!is_name(words[1])) {
        refuse("name");
    } else if (find_card(words[1]) >= 0) {
        refuse("taken");
    } else if (card_count == MAX_CARDS) {
        refuse("full");
    } else if ((fault = read_ops(words + 2, word_count - 2, ops)) != NULL) {
        refuse(fault);
    } else {
        struct card *card = &cards[card_count++];
        strcpy(card->name, words[1]);
        card->length = word_count - 2;
        memcpy(card->ops, ops, (size_t)card->length * sizeof ops[0]);
        print_card(card);
    }
}

static void do_weave(void)
{
    int woven[MAX_WOVEN];
    int i, count = word_count - 1;
    if (count < 1 || count > MAX_WOVEN) {
        refuse("words");
        return;
    }
    for (i = 0; i < count; i++) {
        if (!is_name(words[i + 1])) {
            refuse("name");
            return;
        }
        if ((woven[i] = find_card(words[i + 1])) < 0) {
            refuse("missing");
            return;
        }
    }
    work = 0;
    for (i = 0; i < count; i++) {
        if (!weave_card(&cards[woven[i]], 0)) {
            refuse("work");
            return;
        }
    }
}

static void do_tally(void)
{
    int i;
    if (word_count != 1) {
        refuse("words");
        return;
    }
    if (rows == 0)
        printf("tally: -\n");
    for (i = 0; i < SHUTTLES; i++)
        if (tallies[i].rows > 0)
            printf("%c: rows %d, thread %d\n", 'a' + i, tallies[i].rows, tallies[i].thread);
}

static void do_cut(void)
{
    if (word_count != 1) {
        refuse("words");
        return;
    }
    printf("cut after %d\n", rows);
    rows = 0;
    memset(tallies, 0, sizeof tallies);
}

static void do_cards(void)
{
    int i;
    if (word_count != 1) {
        refuse("words");
        return;
    }
    if (card_count == 0)
        printf("cards: -\n");
    for (i = 0; i < card_count; i++)
        print_card(&cards[i]);
}

/* -------------------------------------------------------------------------------------------------------- main */

static const struct {
    const char *name;
    void (*obey)(void);
} commands[] = {
    {"ends", do_ends},   {"card", do_card}, {"weave", do_weave},
    {"tally", do_tally}, {"cut", do_cut},   {"cards", do_cards},
};

static void obey(void)
{
    size_t i;
    for (i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(words[0], commands[i].name) == 0) {
            commands[i].obey();
            return;
        }
    }
    refuse("unknown");
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
