/* SPDX-License-Identifier: Apache-2.0
 * machine.h: what the command knows about the machine it runs on. */
#ifndef IH_HARNESS_MACHINE_H
#define IH_HARNESS_MACHINE_H

#include <stddef.h>
#include <stdint.h>

/* The processor's name as the system gives it, or "unknown". */
void machine_cpu_name(char *name, size_t name_bytes);

/* Processors that this process may run on. */
int machine_cpus(void);

/* Bytes of memory, and of memory that programs can get now (a limit of the process's group counts); -1 if not known. */
void machine_memory(int64_t *all, int64_t *available);

/* NVIDIA display devices on the PCI bus, and whether a driver for them is loaded. */
int machine_nvidia_gpus(void);
int machine_nvidia_driver(void);

/* Is there a program of that name on PATH? */
int machine_has_program(const char *name);

#endif
