// Graphs: launches, copies and fills that are recorded once and launched again as a whole, with the
// same buffers and numbers. A host function runs while the runtime records: what it frees meanwhile is
// the graph's own, as other work must not lie there when the graph is launched again, and small zeros
// have buffers of their own, which the graph clears each time.
#include "internal.h"

#include <stdlib.h>

enum fcl_status fcl_graph_begin(struct fcl_context *context) {
    FCLRT_ENTER;
    if (!context)
        return FCL_INVALID;
    if (!context->backend->begin_graph)
        return fclrt_fail(context, FCL_NO_BACKEND, "fcl_graph_begin: there are no graphs for %s",
                          fcl_backend_name(context->device.backend));
    enum fcl_status status = fclrt_expect_no_recording(context, "fcl_graph_begin");
    if (status != FCL_OK)
        return status;
    struct fcl_graph *graph = calloc(1, sizeof *graph);
    if (!graph)
        return fclrt_no_memory(context);
    graph->context = context;
    status = context->backend->begin_graph(context);
    if (status == FCL_OK)
        context->recorded = graph;
    else
        free(graph);
    return status;
}

enum fcl_status fcl_graph_end(struct fcl_context *context, enum fcl_status status, struct fcl_graph **out) {
    FCLRT_ENTER;
    if (out)
        *out = NULL;
    if (!context)
        return FCL_INVALID;
    struct fcl_graph *graph = context->recorded;
    if (!graph)
        return fclrt_fail(context, FCL_INVALID, "fcl_graph_end: no graph is recorded");
    bool is_wanted = status == FCL_OK && out;
    enum fcl_status ended = context->backend->end_graph(context, is_wanted ? &graph->handle : NULL);
    context->recorded = NULL;
    if (status == FCL_OK)
        status = out ? ended : fclrt_fail(context, FCL_INVALID, "fcl_graph_end: no place for the graph");
    if (status != FCL_OK) {
        fclrt_recycle_buffers(context, &graph->buffers);
        free(graph);
        return status;
    }
    graph->next = context->graphs;
    if (graph->next)
        graph->next->previous = graph;
    context->graphs = graph;
    *out = graph;
    return FCL_OK;
}

enum fcl_status fcl_graph_launch(struct fcl_graph *graph) {
    FCLRT_ENTER;
    if (!graph)
        return FCL_INVALID;
    struct fcl_context *context = graph->context;
    enum fcl_status status = fclrt_expect_no_recording(context, "fcl_graph_launch");
    if (status != FCL_OK)
        return status;
    if (graph->launches) {
        context->launches += graph->launches;
        context->last_launched = graph->last_launched;
    }
    fclrt_watch_all(context);
    return context->backend->launch_graph(context, graph->handle);
}

void fcl_graph_free(struct fcl_graph *graph) {
    FCLRT_ENTER;
    if (!graph)
        return;
    struct fcl_context *context = graph->context;
    context->backend->finish(context);
    context->backend->free_graph(context, graph->handle);
    fclrt_recycle_buffers(context, &graph->buffers);
    if (graph->previous)
        graph->previous->next = graph->next;
    else
        context->graphs = graph->next;
    if (graph->next)
        graph->next->previous = graph->previous;
    free(graph);
}

void fclrt_free_graphs(struct fcl_context *context) {
    if (context->recorded)
        fcl_graph_end(context, FCL_INVALID, NULL);
    while (context->graphs)
        fcl_graph_free(context->graphs);
}
