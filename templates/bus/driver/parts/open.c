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
{%- if shell.rows().is_none() %}
    device->failed = 0;
{%- endif %}
    device->cycles = 0;
    if (get(device, {{ registers }}_IDENTITY_OFFSET) != {{ registers }}_IDENTITY_EXPECTED) {
        return {{ prefix }}_WRONG_HARDWARE;
    }
{%- if shell.rows().is_some() %}
    device->runs = get(device, {{ registers }}_RUNS_OFFSET);
    device->half = get(device, {{ registers }}_NEXT_HALF_OFFSET);
{%- endif %}
    return (get(device, {{ registers }}_CONTROL_OFFSET) & {{ registers }}_CONTROL_IDLE_MASK) != 0 ? {{ prefix }}_OK : {{ prefix }}_BUSY;
}
