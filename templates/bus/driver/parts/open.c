const char *{{ name }}_text(int result)
{
    switch (result) {
{% include "driver/parts/results.c" %}
    default: return "no result of this driver";
    }
}

int {{ name }}_open(struct {{ name }} *device, struct {{ name }}_port port)
{
    device->port = port;
{%- if loads_programs %}
    device->program = NULL;
{%- endif %}
    device->jobs = 0;
    device->failed = 0;
    device->cycles = 0;
    if (get(device, {{ registers }}_IDENTITY_OFFSET) != {{ registers }}_IDENTITY_EXPECTED) {
        return {{ prefix }}_WRONG_HARDWARE;
    }
    return (get(device, {{ registers }}_CONTROL_OFFSET) & {{ registers }}_CONTROL_IDLE_MASK) != 0 ? {{ prefix }}_OK : {{ prefix }}_BUSY;
}
