/* SPDX-License-Identifier: Apache-2.0
 * expr.c: a recursive-descent parser that writes postfix code, and a stack machine. Precedence is that of C. */
#include "expr.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef enum op { PUSH, LOAD, ADD, SUB, MUL, DIV, MOD, NEG, LT, LE, GT, GE, EQ, NE } op;

enum { MOST_CODE = 256, MOST_STACK = 64 };

struct expr {
    int count;
    struct { op op; int64_t value; } code[MOST_CODE];
};

typedef struct parser {
    const char        *at;
    const char *const *names;
    int                names_count, depth, good;
    expr              *e;
} parser;

static void emit(parser *p, op o, int64_t value)
{
    if (p->e->count == MOST_CODE) {
        p->good = 0;
        return;
    }
    p->e->code[p->e->count].op    = o;
    p->e->code[p->e->count].value = value;
    ++p->e->count;
    p->depth += o == PUSH || o == LOAD ? 1 : o == NEG ? 0 : -1;
    if (p->depth > MOST_STACK) p->good = 0;
}

static int take(parser *p, const char *token)
{
    while (isspace((unsigned char)*p->at)) ++p->at;
    if (strncmp(p->at, token, strlen(token)) != 0) return 0;
    p->at += strlen(token);
    return 1;
}

static void parse_equality(parser *p);

static void parse_primary(parser *p)
{
    if (take(p, "(")) {
        parse_equality(p);
        p->good &= take(p, ")");
    } else if (take(p, "-")) {
        parse_primary(p);
        emit(p, NEG, 0);
    } else if (isdigit((unsigned char)*p->at)) {
        char *end;
        emit(p, PUSH, strtoll(p->at, &end, 10));
        p->at = end;
    } else {
        size_t length = 0;
        while (isalnum((unsigned char)p->at[length]) || p->at[length] == '_') ++length;
        for (int k = 0; k < p->names_count; ++k)
            if (length && strlen(p->names[k]) == length && strncmp(p->names[k], p->at, length) == 0) {
                emit(p, LOAD, k);
                p->at += length;
                return;
            }
        p->good = 0;
    }
}

static void parse_product(parser *p)
{
    parse_primary(p);
    while (p->good) {
        const op o = take(p, "*") ? MUL : take(p, "/") ? DIV : take(p, "%") ? MOD : PUSH;
        if (o == PUSH) return;
        parse_primary(p);
        emit(p, o, 0);
    }
}

static void parse_sum(parser *p)
{
    parse_product(p);
    while (p->good) {
        const op o = take(p, "+") ? ADD : take(p, "-") ? SUB : PUSH;
        if (o == PUSH) return;
        parse_product(p);
        emit(p, o, 0);
    }
}

static void parse_relation(parser *p)
{
    parse_sum(p);
    while (p->good) {
        const op o = take(p, "<=") ? LE : take(p, ">=") ? GE : take(p, "<") ? LT : take(p, ">") ? GT : PUSH;
        if (o == PUSH) return;
        parse_sum(p);
        emit(p, o, 0);
    }
}

static void parse_equality(parser *p)
{
    parse_relation(p);
    while (p->good) {
        const op o = take(p, "==") ? EQ : take(p, "!=") ? NE : PUSH;
        if (o == PUSH) return;
        parse_relation(p);
        emit(p, o, 0);
    }
}

expr *expr_parse(const char *text, const char *const *names, int count)
{
    parser p = { text, names, count, 0, 1, calloc(1, sizeof(expr)) };

    if (!p.e) return NULL;
    parse_equality(&p);
    (void)take(&p, ""); /* blanks at the end */
    if (!p.good || *p.at) {
        free(p.e);
        return NULL;
    }
    return p.e;
}

int64_t expr_eval(const expr *e, const int64_t *values)
{
    int64_t stack[MOST_STACK + 1];
    int     top = -1;

    for (int k = 0; k < e->count; ++k) {
        const op      o = e->code[k].op;
        const int64_t v = e->code[k].value;
        if (o == PUSH || o == LOAD) {
            stack[++top] = o == PUSH ? v : values[v];
            continue;
        }
        if (o == NEG) {
            stack[top] = -stack[top];
            continue;
        }
        const int64_t b = stack[top--], a = stack[top];
        if ((o == DIV || o == MOD) && (a < 0 || b <= 0)) abort(); /* the format promises that this does not occur */
        stack[top] = o == ADD   ? a + b
                     : o == SUB ? a - b
                     : o == MUL ? a * b
                     : o == DIV ? a / b
                     : o == MOD ? a % b
                     : o == LT  ? a < b
                     : o == LE  ? a <= b
                     : o == GT  ? a > b
                     : o == GE  ? a >= b
                     : o == EQ  ? a == b
                                : a != b;
    }
    return stack[0];
}

void expr_free(expr *e) { free(e); }
