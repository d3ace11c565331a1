{%- let name = description.lower() -%}
/* The driver's port on Linux, by UIO. */
#define _POSIX_C_SOURCE 200809L

#include "{{ name }}_uio.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* The longest time that a wait for the interrupt takes, so that timeouts are seen. */
#define WAIT_MS 10

{% if description.shell.rows().is_none() -%}
static uint32_t uio_read(void *context, uint32_t offset)
{
    const struct {{ name }}_uio *uio = context;
    return *(volatile uint32_t *)((volatile unsigned char *)uio->registers + offset);
}

static void uio_write(void *context, uint32_t offset, uint32_t value)
{
    const struct {{ name }}_uio *uio = context;
    *(volatile uint32_t *)((volatile unsigned char *)uio->registers + offset) = value;
}

{% endif -%}
static void uio_wait(void *context)
{
    const struct {{ name }}_uio *uio = context;
    const uint32_t unmask = 1;
    uint32_t count;
    struct pollfd waits = {uio->file, POLLIN, 0};
    /* The kernel masks the interrupt when it comes. Without one, the registers tell. */
    if (write(uio->file, &unmask, sizeof unmask) != (ssize_t)sizeof unmask) {
        return;
    }
    if (poll(&waits, 1, WAIT_MS) > 0 && read(uio->file, &count, sizeof count) != (ssize_t)sizeof count) {
        return;
    }
}

static uint32_t milliseconds(void *context)
{
    struct timespec now;
    (void)context;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint32_t)now.tv_sec * 1000u + (uint32_t)(now.tv_nsec / 1000000);
}

int {{ name }}_uio_open(struct {{ name }}_uio *uio, const char *path)
{
    uio->file = open(path, O_RDWR);
    if (uio->file < 0) {
        return -1;
    }
{%- if description.shell.rows().is_some() %}
    uio->map.registers = mmap(NULL, {{ description.upper() }}_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, uio->file, 0);
    uio->map.buffer = mmap(NULL, {{ description.upper() }}_BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, uio->file, sysconf(_SC_PAGESIZE));
    if (uio->map.registers == MAP_FAILED || uio->map.buffer == MAP_FAILED) {
        {{ name }}_uio_close(uio);
        return -1;
    }
{%- else %}
    uio->registers = mmap(NULL, {{ description.upper() }}_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, uio->file, 0);
    if (uio->registers == MAP_FAILED) {
        close(uio->file);
        return -1;
    }
{%- endif %}
    return 0;
}

struct {{ name }}_port {{ name }}_uio_port(struct {{ name }}_uio *uio)
{
{%- if description.shell.rows().is_some() %}
    struct {{ name }}_port port = {{ name }}_mapped(&uio->map);
    port.wait = uio_wait;
    port.ticks = milliseconds;
    return port;
{%- else %}
    const struct {{ name }}_port port = {uio_read, uio_write, uio_wait, milliseconds, uio};
    return port;
{%- endif %}
}

void {{ name }}_uio_close(struct {{ name }}_uio *uio)
{
{%- if description.shell.rows().is_some() %}
    if (uio->map.registers != MAP_FAILED) {
        munmap((void *)uio->map.registers, {{ description.upper() }}_BYTES);
    }
    if (uio->map.buffer != MAP_FAILED) {
        munmap((void *)uio->map.buffer, {{ description.upper() }}_BUFFER_BYTES);
    }
{%- else %}
    munmap((void *)uio->registers, {{ description.upper() }}_BYTES);
{%- endif %}
    close(uio->file);
}
