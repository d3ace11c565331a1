static uint32_t other_hardware(void *context, uint32_t offset)
{
    return ~simulation_read(context, offset);
}
