{%- let name = description.lower() -%}
/* The driver's port on Linux, by UIO: no kernel module of its own. */
#ifndef PUSHMEM_{{ description.upper() }}_UIO_H
#define PUSHMEM_{{ description.upper() }}_UIO_H

#include "{{ name }}_driver.h"

struct {{ name }}_uio {
{%- if description.shell.rows().is_some() %}
    struct {{ name }}_map map; /* the first member, so that the functions of a map take this for one */
    int file;
{%- else %}
    int file;
    volatile void *registers;
{%- endif %}
};

/* Maps the registers of a device, as "/dev/uio0"{% if description.shell.rows().is_some() %}, which are its map 0, and the banks, its map 1{% endif %}. 0, or -1 with errno. */
int {{ name }}_uio_open(struct {{ name }}_uio *uio, const char *path);

/* A port that waits for the interrupt, and whose ticks are milliseconds. `uio` outlives it. Enable the interrupt of the driver. */
struct {{ name }}_port {{ name }}_uio_port(struct {{ name }}_uio *uio);

void {{ name }}_uio_close(struct {{ name }}_uio *uio);

#endif
