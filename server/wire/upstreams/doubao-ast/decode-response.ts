/**
 * Decodes the server's messages of AST 2.0 (docs/protocols/volcengine-interpretation.md#messages).
 * Fields that are unknown, or not of the expected wire type, are skipped, as protobuf readers do.
 */
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'

export interface BillingItem {
  readonly unit: string
  readonly quantity: number
}

export interface Billing {
  readonly items: readonly BillingItem[]
  readonly durationMs: number
}

export interface AstResponse {
  sessionId: string
  statusCode: number
  message: string
  billing: Billing | undefined
  event: number
  /** A view of the message's memory. */
  data: Uint8Array | undefined
  text: string
  startMs: number
  endMs: number
}

/** Reads one field; returns false for a field to be skipped. */
type FieldReader = (reader: BinaryReader, field: number, wireType: WireType) => boolean

/** Throws RangeError or Error when the bytes are no protobuf. */
export function decodeResponse(bytes: Uint8Array): AstResponse {
  const response: AstResponse = {
    sessionId: '',
    statusCode: 0,
    message: '',
    billing: undefined,
    event: 0,
    data: undefined,
    text: '',
    startMs: 0,
    endMs: 0,
  }
  readFields(bytes, (reader, field, wireType) => {
    if (wireType === WireType.Varint) {
      if (field === 2) response.event = reader.int32()
      else if (field === 5) response.startMs = reader.int32()
      else if (field === 6) response.endMs = reader.int32()
      else return false
      return true
    }
    if (wireType !== WireType.LengthDelimited) return false
    if (field === 1) readMeta(reader.bytes(), response)
    else if (field === 3) response.data = reader.bytes()
    else if (field === 4) response.text = reader.string()
    else return false
    return true
  })
  return response
}

/** ResponseMeta: SessionID 1, StatusCode 3, Message 4, Billing 5. */
function readMeta(bytes: Uint8Array, response: AstResponse): void {
  readFields(bytes, (reader, field, wireType) => {
    if (field === 3 && wireType === WireType.Varint) {
      response.statusCode = reader.int32()
      return true
    }
    if (wireType !== WireType.LengthDelimited) return false
    if (field === 1) response.sessionId = reader.string()
    else if (field === 4) response.message = reader.string()
    else if (field === 5) response.billing = readBilling(reader.bytes())
    else return false
    return true
  })
}

/** Billing: Items 1, DurationMsec 2. */
function readBilling(bytes: Uint8Array): Billing {
  const items: BillingItem[] = []
  let durationMs = 0
  readFields(bytes, (reader, field, wireType) => {
    if (field === 1 && wireType === WireType.LengthDelimited) items.push(readItem(reader.bytes()))
    else if (field === 2 && wireType === WireType.Varint) durationMs = Number(reader.int64())
    else return false
    return true
  })
  return { items, durationMs }
}

/** BillingItem: Unit 1, Quantity 2 as a 32-bit float. */
function readItem(bytes: Uint8Array): BillingItem {
  let unit = ''
  let quantity = 0
  readFields(bytes, (reader, field, wireType) => {
    if (field === 1 && wireType === WireType.LengthDelimited) unit = reader.string()
    else if (field === 2 && wireType === WireType.Bit32) quantity = reader.float()
    else return false
    return true
  })
  return { unit, quantity }
}

function readFields(bytes: Uint8Array, read: FieldReader): void {
  const reader = new BinaryReader(bytes)
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag()
    if (!read(reader, field, wireType)) reader.skip(wireType, field)
  }
}
