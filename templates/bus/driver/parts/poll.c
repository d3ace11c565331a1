int {{ name }}_poll(struct {{ name }} *device)
{
    uint32_t error;
    if (device->jobs == 0) {
        return {{ prefix }}_NO_JOB;
    }
    if ((get(device, {{ registers }}_CONTROL_OFFSET) & {{ registers }}_CONTROL_DONE_MASK) == 0) {
        return {{ prefix }}_RUNNING;
    }
    /* The next start clears them. */
    error = get(device, {{ registers }}_ERROR_OFFSET);
    device->failed = {% if shell.programmed() %}images_of(device, {% endif %}get(device, {{ registers }}_FAILED_IMAGES_OFFSET){% if shell.programmed() %}){% endif %};
    device->cycles = get(device, {{ registers }}_CYCLES_OFFSET);
    /* Before the next start: after it, the end of that job might be what is taken back. */
    {{ name }}_acknowledge(device);
    --device->jobs;
    if (device->jobs != 0) {
        start(device);
    }
    if ((error & {{ registers }}_ERROR_MISALIGNED_MASK) != 0) {
        return {{ prefix }}_MISALIGNED;
    }
    if ((error & {{ registers }}_ERROR_READ_MASK) != 0) {
        return {{ prefix }}_READ_ERROR;
    }
    return (error & {{ registers }}_ERROR_WRITE_MASK) != 0 ? {{ prefix }}_WRITE_ERROR : {{ prefix }}_OK;
}
