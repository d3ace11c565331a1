/* An image: the byte address of its first element as the {% if shell.rows().is_some() %}processor{% else %}array{% endif %} sees it, the bytes of memory from there on, and the bytes from an element
 * of each dimension but the first to the next. With a negative stride memory before the address is used, too. Of an image with elements
 * of 16 bits all are even.{% if shell.rows().is_some() %} One of address 0 is moved by the caller, between memory and the bank.{% endif %} */
struct {{ name }}_image {
    uint64_t address;
    uint64_t bytes;
    int32_t stride[{{ prefix }}_STRIDES];
};

/* Images by their numbers in the program. */
struct {{ name }}_job {
    struct {{ name }}_image image[{{ prefix }}_IMAGES];
};

/* An image as a program declares it: the bytes of an element, {% if shell.rows().is_some() %}whether it has a sign, {% endif %}and elements in each dimension, innermost first. */
struct {{ name }}_shape {
    const char *name;
    uint32_t output;
    uint32_t element_bytes;
{%- if shell.rows().is_some() %}
    uint32_t is_signed;
{%- endif %}
    uint32_t dimensions;
    uint32_t size[{{ prefix }}_DIMENSIONS];
};
