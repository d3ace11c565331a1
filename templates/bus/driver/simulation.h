{%- let shell = description.shell -%}
/* The Verilated shell with a memory, for a driver: its registers through AXI4-Lite, {% if shell.rows().is_some() %}its banks through AXI4{% else %}its managers served from an array{% endif %}. */
#ifndef PUSHMEM_SIMULATION_H
#define PUSHMEM_SIMULATION_H

{% if shell.rows().is_some() %}#include <stdbool.h>
{% endif %}#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

{% if shell.rows().is_some() -%}
/* Where memory begins as the processor sees it, and its bytes. */
#define SIMULATION_MEMORY simulation_address()
{%- else -%}
/* Where memory begins as the managers see it, and its bytes. There is nothing at other addresses: DECERR. */
#define SIMULATION_MEMORY UINT64_C(0x740000000)
{%- endif %}
#ifndef SIMULATION_BYTES
#define SIMULATION_BYTES (UINT64_C(1) << 22)
#endif

/* Memory, as the processor sees it. */
uint8_t *simulation_memory(void);

/* The same for programs that do not include this. */
uint64_t simulation_address(void);
uint64_t simulation_bytes(void);

/* Resets the shell. */
void simulation_reset(void);

/* Accesses to registers, each some cycles; an access that is answered with an error ends the simulation. */
uint32_t simulation_read(void *context, uint32_t offset);
void simulation_write(void *context, uint32_t offset, uint32_t value);

{% if shell.rows().is_some() -%}
/* Moves rows of the banks, in bursts without pauses, a row in each cycle: whether all were answered without an error. */
bool simulation_write_rows(void *context, uint32_t address, const uint64_t *rows, uint32_t count);
bool simulation_read_rows(void *context, uint32_t address, uint64_t *rows, uint32_t count);

{% endif -%}
/* The initializer of a driver's port to all of these. */
#define SIMULATION_PORT \
    {simulation_read, simulation_write, simulation_wait, simulation_cycles,{% if shell.rows().is_some() %} simulation_write_rows, simulation_read_rows,{% endif %} NULL}

/* Waits for the interrupt, or some hundred cycles. */
void simulation_wait(void *context);

/* Cycles since the reset. */
uint32_t simulation_cycles(void *context);

/* Whether the interrupt is high. */
int simulation_interrupt(void);

#ifdef __cplusplus
}
#endif

#endif
