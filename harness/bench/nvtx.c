/* SPDX-License-Identifier: Apache-2.0
 * nvtx.c: ranges of cases and stages through the header-only NVTX v3, or nothing in a build without it. */
#include "nvtx.h"

#include <stdlib.h>

int nvtx_profiled(void)
{
    static const char *const variables[] = { "NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH" };

    for (int k = 0; k < 2; ++k) {
        const char *value = getenv(variables[k]);
        if (value && value[0]) return 1;
    }
    return 0;
}

#if IH_WITH_NVTX

#include <nvtx3/nvToolsExt.h>

#include <stdio.h>
#include <string.h>

enum { STAGES = 4, CASE_TEXT = 1024 };

static const char *const stage_names[STAGES] = { "chunk", "scan", "merge", "reconstruct" };

/* Without a tool all handles are NULL, which every call accepts: no branch depends on them. */
static struct {
    int                started;
    nvtxDomainHandle_t cases, stages;
    nvtxStringHandle_t stage[STAGES];
    nvtxStringHandle_t last_case; /* repetitions of a case register its name once */
    char               last_text[CASE_TEXT];
} tool;

int nvtx_built(void) { return 1; }

void nvtx_start(void)
{
    if (tool.started) return;
    tool.started = 1;
    tool.cases   = nvtxDomainCreateA("isohull");
    tool.stages  = nvtxDomainCreateA("isohull.stages");
    for (int k = 0; k < STAGES; ++k) {
        nvtxDomainNameCategoryA(tool.stages, (uint32_t)(k + 1), stage_names[k]);
        tool.stage[k] = nvtxDomainRegisterStringA(tool.stages, stage_names[k]);
    }
}

static nvtxEventAttributes_t attributes(int64_t payload)
{
    nvtxEventAttributes_t a;

    memset(&a, 0, sizeof a);
    a.version         = NVTX_VERSION;
    a.size            = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    a.payloadType     = NVTX_PAYLOAD_TYPE_INT64;
    a.payload.llValue = payload;
    a.messageType     = NVTX_MESSAGE_TYPE_REGISTERED;
    return a;
}

void nvtx_case_begin(const char *impl, const char *problem, int64_t elements)
{
    nvtxEventAttributes_t a = attributes(elements);
    char                  text[CASE_TEXT];

    nvtx_start();
    snprintf(text, sizeof text, "%s %s", impl, problem);
    if (strcmp(text, tool.last_text) != 0) {
        tool.last_case = nvtxDomainRegisterStringA(tool.cases, text);
        memcpy(tool.last_text, text, sizeof text);
    }
    a.message.registered = tool.last_case;
    nvtxDomainRangePushEx(tool.cases, &a);
}

void nvtx_case_end(void) { nvtxDomainRangePop(tool.cases); }

static void push_stage(const char *stage, int32_t level)
{
    nvtxEventAttributes_t a = attributes(level);
    int                   k = 0;

    while (k < STAGES && strcmp(stage, stage_names[k]) != 0) ++k;
    if (k < STAGES) {
        a.category           = (uint32_t)(k + 1);
        a.message.registered = tool.stage[k];
    } else { /* of a plug-in: its own name, not registered, since hooks may come from several threads */
        a.messageType   = NVTX_MESSAGE_TYPE_ASCII;
        a.message.ascii = stage;
    }
    nvtxDomainRangePushEx(tool.stages, &a);
}

void nvtx_stage_hook(void *user, const char *stage, int32_t level, int32_t begin, void *stream)
{
    const nvtx_chain *next = user;

    if (begin) push_stage(stage, level);
    if (next && next->hook) next->hook(next->user, stage, level, begin, stream);
    if (!begin) nvtxDomainRangePop(tool.stages);
}

#else

int  nvtx_built(void) { return 0; }
void nvtx_start(void) {}

void nvtx_case_begin(const char *impl, const char *problem, int64_t elements)
{
    (void)impl;
    (void)problem;
    (void)elements;
}

void nvtx_case_end(void) {}

void nvtx_stage_hook(void *user, const char *stage, int32_t level, int32_t begin, void *stream)
{
    const nvtx_chain *next = user;

    if (next && next->hook) next->hook(next->user, stage, level, begin, stream);
}

#endif
