/** The output item of a picture that the model made: the dialect's own image generation. */
import type { JsonObject } from '../../../base/lib/json.ts'
import {
  emitAdded,
  emitDone,
  type ItemPlace,
  type ItemStatus,
  type OutputItem,
  placeMembers,
} from './output-item.ts'

export class ImageItem implements OutputItem {
  private readonly place: ItemPlace
  private readonly format: string
  private readonly data: string

  /** `media` is for example `image/png`, `data` base64. */
  constructor(place: ItemPlace, media: string, data: string) {
    this.place = place
    this.format = media.slice(media.indexOf('/') + 1)
    this.data = data
    emitAdded(place, this.write('in_progress', null))
  }

  close(): void {
    this.place.emit('response.image_generation_call.completed', placeMembers(this.place))
    emitDone(this.place, this.build('completed'))
  }

  build(status: ItemStatus): JsonObject {
    return this.write(status, this.data)
  }

  private write(status: string, result: string | null): JsonObject {
    const { id } = this.place
    return { id, type: 'image_generation_call', status, result, output_format: this.format }
  }
}
