static uint32_t get(struct {{ name }} *device, uint32_t offset)
{
    return device->port.read(device->port.context, offset);
}

static void set(struct {{ name }} *device, uint32_t offset, uint32_t value)
{
    device->port.write(device->port.context, offset, value);
}

{% if shell.rows().is_some() -%}
static uint32_t mapped_read(void *context, uint32_t offset)
{
    const struct {{ name }}_map *map = context;
    return *(volatile uint32_t *)((volatile unsigned char *)map->registers + offset);
}

static void mapped_write(void *context, uint32_t offset, uint32_t value)
{
    const struct {{ name }}_map *map = context;
    *(volatile uint32_t *)((volatile unsigned char *)map->registers + offset) = value;
}

/* An access that the banks refuse is a fault of the processor. */
static bool mapped_write_rows(void *context, uint32_t address, const uint64_t *rows, uint32_t count)
{
    const struct {{ name }}_map *map = context;
    volatile uint64_t *banks = (volatile uint64_t *)((volatile unsigned char *)map->buffer + address);
    uint32_t row;
    for (row = 0; row < count; ++row) {
        banks[row] = rows[row];
    }
    return true;
}

static bool mapped_read_rows(void *context, uint32_t address, uint64_t *rows, uint32_t count)
{
    const struct {{ name }}_map *map = context;
    const volatile uint64_t *banks = (const volatile uint64_t *)((volatile unsigned char *)map->buffer + address);
    uint32_t row;
    for (row = 0; row < count; ++row) {
        rows[row] = banks[row];
    }
    return true;
}

struct {{ name }}_port {{ name }}_mapped(struct {{ name }}_map *map)
{
    struct {{ name }}_port port = {mapped_read, mapped_write, NULL, NULL, mapped_write_rows, mapped_read_rows, map};
    return port;
}
{%- else -%}
static uint32_t mapped_read(void *context, uint32_t offset)
{
    return *(volatile uint32_t *)((unsigned char *)context + offset);
}

static void mapped_write(void *context, uint32_t offset, uint32_t value)
{
    *(volatile uint32_t *)((unsigned char *)context + offset) = value;
}

struct {{ name }}_port {{ name }}_mapped(volatile void *registers)
{
    struct {{ name }}_port port = {mapped_read, mapped_write, NULL, NULL, (void *)registers};
    return port;
}
{%- endif %}
