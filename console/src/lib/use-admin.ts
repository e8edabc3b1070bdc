/** Hooks for the admin API: a query, a paged list, a change. */
import {
  type QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { type AdminAnswer, type AdminKey, ApiError, callAdmin, type RequestOf } from './api.ts'
import type { LiveTopic } from './live.ts'

interface QueryOptions {
  /** Topics of server events that trigger a refetch. */
  readonly live?: readonly LiveTopic[]
  readonly enabled?: boolean
  readonly refetchEveryMs?: number
  /** Shows the old rows, dimmed, while new filters load. */
  readonly keepPrevious?: boolean
}

/** Polls while it returns true, for changes without an event. */
interface RefetchWhile<Answer> {
  readonly everyMs: number
  readonly holds: (answer: Answer) => boolean
}

/** `useAdmin('GET /accounts/:account_id/balance', { params: { account_id } })`. */
export function useAdmin<Key extends AdminKey>(
  key: Key,
  request: RequestOf<Key>,
  options: QueryOptions & { readonly refetchWhile?: RefetchWhile<AdminAnswer<Key>> } = {},
) {
  const { refetchEveryMs = false, refetchWhile } = options
  const query = useQuery({
    queryKey: [key, request],
    queryFn: ({ signal }) => callAdmin(key, request, signal),
    meta: { live: options.live ?? [] },
    enabled: options.enabled ?? true,
    refetchInterval: ({ state: { data } }) =>
      refetchWhile && data && refetchWhile.holds(data) ? refetchWhile.everyMs : refetchEveryMs,
    ...(options.keepPrevious ? { placeholderData: keep } : {}),
  })
  // While the gateway is away, or after the session's end, the frame says so and the page keeps
  // what it shows.
  const isOfFrame = query.error instanceof ApiError && [0, 401].includes(query.error.status)
  return isOfFrame && query.data !== undefined ? { ...query, error: null } : query
}

function keep<Data>(previous: Data | undefined): Data | undefined {
  return previous
}

/** Routes that return `{ data, next_cursor }`. */
export type PagedKey = {
  [Key in AdminKey]: AdminAnswer<Key> extends { data: unknown[]; next_cursor: string | null }
    ? Key
    : never
}[AdminKey]

export type RowOf<Key extends PagedKey> =
  AdminAnswer<Key> extends { data: (infer Row)[] } ? Row : never

/** Returns a paged list for DataTable: `rows` so far, and how to load more. */
export function useAdminPages<Key extends PagedKey>(
  key: Key,
  request: RequestOf<Key>,
  options: QueryOptions = {},
) {
  const query = useInfiniteQuery({
    queryKey: [key, request],
    queryFn: ({ pageParam, signal }) => callAdmin(key, withCursor(request, pageParam), signal),
    initialPageParam: '',
    getNextPageParam: (last) => nextCursor(last) ?? undefined,
    meta: { live: options.live ?? [] },
    enabled: options.enabled ?? true,
    placeholderData: keep,
    refetchInterval: options.refetchEveryMs ?? false,
  })
  const rows = (query.data?.pages ?? []).flatMap((page) => rowsOf<Key>(page))
  return {
    rows,
    error: query.error,
    isPending: query.isPending,
    isStale: query.isPlaceholderData,
    hasMore: query.hasNextPage,
    isLoadingMore: query.isFetchingNextPage,
    /** Null unless further rows could not be loaded. */
    moreError: query.isFetchNextPageError ? query.error : null,
    loadMore: () => void query.fetchNextPage(),
    retry: () => void query.refetch(),
  }
}

export type AdminPages<Row> = Omit<ReturnType<typeof useAdminPages>, 'rows'> & {
  readonly rows: readonly Row[]
}

/** Shows rows once another answer is there too, which names the currency of their amounts. */
export function withAnswer<Row>(
  pages: AdminPages<Row>,
  query: {
    readonly data: unknown
    readonly error: Error | null
    readonly isPending: boolean
    readonly refetch: () => unknown
  },
): AdminPages<Row> {
  if (query.data !== undefined) return pages
  return {
    ...pages,
    rows: [],
    error: pages.error ?? query.error,
    isPending: pages.isPending || query.isPending,
    retry() {
      pages.retry()
      void query.refetch()
    },
  }
}

/** Adapts a list that is not paged, `{ data }`, for DataTable. */
export function asPages<Row>(query: {
  readonly data: { readonly data: readonly Row[] } | undefined
  readonly error: Error | null
  readonly isPending: boolean
  readonly isPlaceholderData: boolean
  readonly refetch: () => unknown
}): AdminPages<Row> {
  return {
    rows: query.data?.data ?? [],
    error: query.error,
    isPending: query.isPending,
    isStale: query.isPlaceholderData,
    hasMore: false,
    isLoadingMore: false,
    moreError: null,
    loadMore() {},
    retry: () => void query.refetch(),
  }
}

function withCursor<Request extends object>(request: Request, cursor: string): Request {
  if (!cursor) return request
  const query = 'query' in request ? request.query : undefined
  return { ...request, query: { ...(typeof query === 'object' ? query : {}), cursor } }
}

function nextCursor(page: unknown): string | null {
  const isPage = typeof page === 'object' && page !== null && 'next_cursor' in page
  return isPage && typeof page.next_cursor === 'string' ? page.next_cursor : null
}

function rowsOf<Key extends PagedKey>(page: AdminAnswer<Key>): RowOf<Key>[] {
  return (page as unknown as { readonly data: RowOf<Key>[] }).data
}

/** Returns a change; afterwards the named routes (by default all) are refetched. */
export function useAdminChange<Key extends AdminKey>(
  key: Key,
  options: { readonly refreshes?: readonly AdminKey[] } = {},
) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (request: RequestOf<Key>) => callAdmin(key, request),
    onSettled: () => refresh(client, options.refreshes),
  })
}

function refresh(client: QueryClient, keys: readonly AdminKey[] | undefined): Promise<void> {
  return client.invalidateQueries({
    // Only what the gateway reads: a query of another name may act.
    predicate: ({ queryKey: [name] }) =>
      keys ? keys.some((key) => key === name) : String(name).startsWith('GET '),
  })
}
