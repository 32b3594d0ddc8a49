/* SPDX-License-Identifier: Apache-2.0
 * nvtx_record.c: an NVTX tool as small as can be: loaded through NVTX_INJECTION64_PATH, it writes domains, registered
 * names and ranges to the file that ISOHULL_NVTX_RECORD names, one event a line, ranges indented by their depth. */
#include <nvtx3/nvToolsExt.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, TEXT = 1200 };

static FILE *file;
static int   depth, domain_count, string_count;
static char  domains[MOST][64], strings[MOST][TEXT];

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table);

static void event(const char *kind, const char *domain, const char *text)
{
    fprintf(file, "%*s%s %s %s\n", 2 * depth, "", kind, domain, text);
    fflush(file);
}

static nvtxDomainHandle_t create(const char *name)
{
    if (domain_count == MOST) abort();
    snprintf(domains[domain_count], sizeof domains[0], "%s", name);
    event("domain", name, "");
    return (nvtxDomainHandle_t)domains[domain_count++];
}

static nvtxStringHandle_t register_string(nvtxDomainHandle_t domain, const char *text)
{
    if (string_count == MOST) abort();
    snprintf(strings[string_count], sizeof strings[0], "%s", text);
    event("string", (const char *)domain, text);
    return (nvtxStringHandle_t)strings[string_count++];
}

static void category(nvtxDomainHandle_t domain, uint32_t id, const char *name)
{
    char text[TEXT];

    snprintf(text, sizeof text, "%" PRIu32 " %s", id, name);
    event("category", (const char *)domain, text);
}

static int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *a)
{
    const int   registered = a->messageType == NVTX_MESSAGE_TYPE_REGISTERED;
    const char *name       = registered ? (const char *)a->message.registered : a->message.ascii;
    char        text[TEXT + 128];

    snprintf(text, sizeof text, "%s payload=%" PRId64 " category=%" PRIu32 "%s", name, a->payload.llValue, a->category,
             registered ? "" : " (not registered)");
    event("push", (const char *)domain, text);
    return depth++;
}

static int pop(nvtxDomainHandle_t domain)
{
    --depth;
    event("pop", (const char *)domain, "");
    return depth;
}

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table)
{
    const char                     *path = getenv("ISOHULL_NVTX_RECORD");
    const NvtxExportTableCallbacks *callbacks = get_table(NVTX_ETID_CALLBACKS);
    NvtxFunctionTable               table;
    unsigned                        size;

    file = path ? fopen(path, "w") : NULL;
    if (!file || !callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size)) return 0;
    if (size <= NVTX_CBID_CORE2_DomainCreateA) return 0;
    *table[NVTX_CBID_CORE2_DomainCreateA]         = (NvtxFunctionPointer)create;
    *table[NVTX_CBID_CORE2_DomainRegisterStringA] = (NvtxFunctionPointer)register_string;
    *table[NVTX_CBID_CORE2_DomainNameCategoryA]   = (NvtxFunctionPointer)category;
    *table[NVTX_CBID_CORE2_DomainRangePushEx]     = (NvtxFunctionPointer)push;
    *table[NVTX_CBID_CORE2_DomainRangePop]        = (NvtxFunctionPointer)pop;
    return 1;
}
