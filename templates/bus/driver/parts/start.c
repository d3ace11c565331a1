static void start(struct {{ name }} *device)
{
    /* Images that were written to memory are there before the accelerator reads them. Caches are the caller's. */
    atomic_thread_fence(memory_order_seq_cst);
    set(device, {{ registers }}_CONTROL_OFFSET, {{ registers }}_CONTROL_START_MASK);
}
