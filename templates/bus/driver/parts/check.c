/* Whether elements of an image are apart, and in its memory: from the least stride on, each is beyond what is inside of it. */
static int check(const uint32_t *shape, uint32_t dimensions, uint32_t element_bytes, const struct {{ name }}_image *image)
{
    uint64_t end = element_bytes;
    uint64_t before = 0;
    uint32_t taken = 0;
    uint32_t count;
    uint32_t dimension;
    if ((image->address & (element_bytes - 1u)) != 0) {
        return {{ prefix }}_MISALIGNED;
    }
    for (dimension = 1; dimension < dimensions; ++dimension) {
        if (((uint32_t)image->stride[dimension - 1] & (element_bytes - 1u)) != 0) {
            return {{ prefix }}_MISALIGNED;
        }
    }
    for (count = 0; count < dimensions; ++count) {
        uint64_t least = UINT64_MAX;
        uint64_t way;
        uint32_t next = 0;
        bool backwards = false;
        for (dimension = 0; dimension < dimensions; ++dimension) {
            const int64_t stride = dimension == 0 ? (int64_t)element_bytes : image->stride[dimension - 1];
            const uint64_t apart = (uint64_t)(stride < 0 ? -stride : stride);
            if ((taken >> dimension & 1u) == 0 && apart < least) {
                least = apart;
                next = dimension;
                backwards = stride < 0;
            }
        }
        taken |= 1u << next;
        /* The stride of a single iteration is never taken. */
        if (shape[next] <= 1u) {
            continue;
        }
        if (least < end + before) {
            return {{ prefix }}_WRONG_SIZE;
        }
        way = least * (shape[next] - 1u);
        end += backwards ? 0u : way;
        before += backwards ? way : 0u;
    }
    return end <= image->bytes && before <= image->address ? {{ prefix }}_OK : {{ prefix }}_WRONG_SIZE;
}
