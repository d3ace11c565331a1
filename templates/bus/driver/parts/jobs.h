/* {% if shell.rows().is_some() %}Writes the inputs of a job to the next half, and starts it, or makes it the next one{% else %}Starts a job, or makes it the next one{% endif %}. */
int {{ name }}_submit(struct {{ name }} *device, const struct {{ name }}_job *job);

{%- if shell.rows().is_some() %}
/* Whether the older job is over: then its outputs are read, while the next one runs. */
{%- else %}
/* Whether the older job is over, and how it ended: then its interrupt is taken back, and the next one is started. */
{%- endif %}
int {{ name }}_poll(struct {{ name }} *device);

/* Waits for the end of the older job, for so many ticks, or polls where there are no ticks. */
int {{ name }}_wait(struct {{ name }} *device, uint32_t timeout);

/* Makes the interrupt follow the ends of jobs, or none. */
void {{ name }}_enable_interrupt(struct {{ name }} *device, bool enable);

/* Takes the interrupt back, for an interrupt routine that must have the level down before the job's end is polled. Never after a poll or a
 * wait, which did so: it might take the interrupt of the next job. */
void {{ name }}_acknowledge(struct {{ name }} *device);

{% if shell.rows().is_none() -%}
/* The images of the last job that ended which failed, a bit for each number. */
uint32_t {{ name }}_failed(const struct {{ name }} *device);

{% endif -%}
/* Cycles of the last job that ended. */
uint32_t {{ name }}_cycles(const struct {{ name }} *device);

#ifdef __cplusplus
}
#endif

#endif
