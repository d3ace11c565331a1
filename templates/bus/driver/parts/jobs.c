int {{ name }}_wait(struct {{ name }} *device, uint32_t timeout)
{
    const struct {{ name }}_port *port = &device->port;
    const uint32_t begin = port->ticks != NULL ? port->ticks(port->context) : 0;
    uint32_t polls = 0;
    for (;;) {
        const int result = {{ name }}_poll(device);
        if (result != {{ prefix }}_RUNNING) {
            return result;
        }
        ++polls;
        if ((port->ticks != NULL ? port->ticks(port->context) - begin : polls) >= timeout) {
            return {{ prefix }}_TIMEOUT;
        }
        if (port->wait != NULL) {
            port->wait(port->context);
        }
    }
}

void {{ name }}_enable_interrupt(struct {{ name }} *device, bool enable)
{
    {{ name }}_acknowledge(device);
    set(device, {{ registers }}_INTERRUPT_ENABLE_OFFSET, enable ? {{ registers }}_INTERRUPT_ENABLE_DONE_MASK : 0u);
    set(device, {{ registers }}_GLOBAL_INTERRUPT_ENABLE_OFFSET, enable ? {{ registers }}_GLOBAL_INTERRUPT_ENABLE_ENABLE_MASK : 0u);
}

void {{ name }}_acknowledge(struct {{ name }} *device)
{
    /* Ones that are written toggle. */
    const uint32_t pending = get(device, {{ registers }}_INTERRUPT_STATUS_OFFSET);
    if (pending != 0) {
        set(device, {{ registers }}_INTERRUPT_STATUS_OFFSET, pending);
    }
}

{% if shell.rows().is_none() -%}
uint32_t {{ name }}_failed(const struct {{ name }} *device)
{
    return device->failed;
}

{% endif -%}
uint32_t {{ name }}_cycles(const struct {{ name }} *device)
{
    return device->cycles;
}
