static uint32_t get(struct {{ name }} *device, uint32_t offset)
{
    return device->port.read(device->port.context, offset);
}

static void set(struct {{ name }} *device, uint32_t offset, uint32_t value)
{
    device->port.write(device->port.context, offset, value);
}

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
