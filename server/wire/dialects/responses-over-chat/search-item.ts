/** The output item of a search that the vendor runs: its query, and the addresses that it found. */
import type { JsonObject } from '../../../base/lib/json.ts'
import {
  emitAdded,
  emitDone,
  type ItemPlace,
  type ItemStatus,
  type OutputItem,
  placeMembers,
} from './output-item.ts'

export class SearchItem implements OutputItem {
  private readonly place: ItemPlace
  private readonly query: string
  private isFound = false
  private urls: readonly string[] | undefined

  constructor(place: ItemPlace, query: string) {
    this.place = place
    this.query = query
    emitAdded(place, this.write('in_progress'))
    this.emit('in_progress')
    this.emit('searching')
  }

  /** `urls` are the addresses that were found; undefined where they are not shown. */
  end(isFound: boolean, urls: readonly string[] | undefined): void {
    this.isFound = isFound
    this.urls = urls
  }

  close(status: ItemStatus): void {
    if (this.isFound) this.emit('completed')
    emitDone(this.place, this.build(status))
  }

  /** A search that found nothing to read, or that was cut off, has failed. */
  build(_status: ItemStatus): JsonObject {
    return this.write(this.isFound ? 'completed' : 'failed')
  }

  private write(status: string): JsonObject {
    const { query, urls } = this
    const found = urls ? { sources: urls.map((url) => ({ type: 'url', url })) } : {}
    const action = { type: 'search', query, queries: [query], ...found }
    return { id: this.place.id, type: 'web_search_call', status, action }
  }

  private emit(state: string): void {
    this.place.emit(`response.web_search_call.${state}`, placeMembers(this.place))
  }
}
