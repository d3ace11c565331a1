/* The end of a job that is taken by its interrupt alone: its interrupt comes, and goes before the next job starts, whose own comes again. */
static void take_job(struct {{ name }} *device, const char *what)
{
    const uint32_t begin = simulation_cycles(NULL);
    while (simulation_interrupt() == 0 && simulation_cycles(NULL) - begin < TIMEOUT) {
        simulation_wait(NULL);
    }
    expect("interrupt", simulation_interrupt(), 1);
    expect(what, {{ name }}_poll(device), {{ prefix }}_OK);
    expect("interrupt", simulation_interrupt(), 0);
}
