{%- let spec = driver.spec -%}
{%- let name = driver.names.functions -%}
{%- let prefix = driver.names.results -%}
/* The Verilated array `{{ spec.name }}` with its global buffer, for the driver. */
#ifndef PUSHMEM_{{ prefix }}_SIMULATION_H
#define PUSHMEM_{{ prefix }}_SIMULATION_H

#include "driver.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The port of the array; the first call resets it. Time stands still but for runs. */
struct {{ name }}_port simulation_port(void);

/* A row of the banks. */
bool simulation_read_row(uint32_t address, uint64_t *row);

/* Starts a run, and waits until no bank has words to move, for so many cycles at most: the cycles that it took, or -1. */
long simulation_run(long longest);

/* Cycles since the reset. */
long simulation_cycles(void);

#ifdef __cplusplus
}
#endif

#endif
