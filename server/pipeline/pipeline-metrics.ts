/** The pipeline's counters; server/app/metrics.ts names them. */
export interface PipelineMetrics {
  call(facts: {
    readonly endpoint: string
    readonly outcome: string
    readonly status: number
    readonly seconds: number
  }): void
  settled(facts: { readonly basis: string; readonly review: boolean }): void
  /** Counts vendors' own figures that are far from the cost computed by the route's costs. */
  upstreamCostDiffers(): void
  attempt(facts: { readonly channel: string; readonly outcome: string }): void
}
