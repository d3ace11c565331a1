{%- let shell = description.shell -%}
{%- let prefix = description.upper() -%}
{%- let name = description.lower() -%}
/* Driver of the {{ shell.of_hardware() }} behind AXI4: C11 without a library, for firmware and for Linux.
 *
{%- if shell.rows().is_some() %}
 * It loads a program, a table that `pushmem build --array` writes, and runs jobs of it. A job is one run: its inputs are written to a half of the banks, and
 * its outputs are read from there. Two jobs may be there at a time, one in each half: while one runs, the results of the one before are read, and
 * the inputs of the next are written. One thread calls these functions, and none is called from an interrupt.
{%- else if shell.programmed() %}
 * It loads a program, a table that `pushmem build --array` writes, and runs jobs of it. A job is one run: an address and strides for each
 * image. Two jobs may be there at a time: while one runs, the arguments of the next are written already, and it starts when the first is
 * over. One thread calls these functions, and none is called from an interrupt. Memory that the processor caches is to be written back
 * before a job is submitted, and invalidated after it, by the caller.
{%- else %}
 * A job is one run: an address and strides for each image. Two jobs may be there at a time: while one runs, the arguments of the next
 * are written already, and it starts when the first is over. One thread calls these functions, and none is called from an interrupt.
 * Memory that the processor caches is to be written back before a job is submitted, and invalidated after it, by the caller.
{%- endif %}
 */
#ifndef PUSHMEM_{{ prefix }}_DRIVER_H
#define PUSHMEM_{{ prefix }}_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../{{ shell.module }}_registers.h"
{%- if shell.rows().is_some() %}
#include "../global_buffer/driver.h"
{%- endif %}

#ifdef __cplusplus
extern "C" {
#endif

{% if shell.rows().is_some() -%}
{% include "driver/buffered.h" %}
{%- else if shell.programmed() -%}
{% include "driver/array.h" %}
{%- else -%}
{% include "driver/accelerator.h" %}
{%- endif %}

{% include "driver/parts/jobs.h" %}
