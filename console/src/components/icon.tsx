/** Line icons on a 24-unit grid. */
import type { CSSProperties } from 'react'

const SHAPES = {
  home: 'M4 11l8-7 8 7M6 9.5V20h12V9.5M10 20v-6h4v6',
  play: 'M7 4.5v15l12-7.5z',
  key: 'M14.5 9.5m-5 0a5 5 0 1 0 10 0 5 5 0 1 0-10 0M11 13l-7 7M6 18l2.5 2.5M8.5 15.5L11 18',
  chart: 'M4 20h16M6.5 20v-7M12 20V5M17.5 20V10',
  list: 'M9 6h11M9 12h11M9 18h11M4.5 6h.01M4.5 12h.01M4.5 18h.01',
  clock: 'M12 12m-8.5 0a8.5 8.5 0 1 0 17 0 8.5 8.5 0 1 0-17 0M12 7v5l3.5 2',
  image: 'M4 5h16v14H4zM4 16l4.5-4.5L14 17M12.5 15.5l3-3L20 17M15.5 9h.01',
  folder: 'M3.5 6.5h6l2 2.5h9V19h-17z',
  box: 'M12 3.5l8 4.3v8.4l-8 4.3-8-4.3V7.8zM4 7.8l8 4.2 8-4.2M12 12v8.5',
  card: 'M3.5 6h17v12h-17zM3.5 10h17M7 15h3',
  hook: 'M9 12a4 4 0 1 0-4 5.5h6M12 8.5l3.5 6M15.5 14.5a4 4 0 1 1-1 3.5M9.5 7a3.8 3.8 0 1 1 6 2',
  gear:
    'M12 12m-3 0a3 3 0 1 0 6 0 3 3 0 1 0-6 0M12 3v3M12 18v3M3 12h3M18 12h3' +
    'M5.6 5.6l2.2 2.2M16.2 16.2l2.2 2.2M5.6 18.4l2.2-2.2M16.2 7.8l2.2-2.2',
  users:
    'M9 8m-3.5 0a3.5 3.5 0 1 0 7 0 3.5 3.5 0 1 0-7 0' +
    'M2.5 19.5c0-3.5 3-5.5 6.5-5.5s6.5 2 6.5 5.5M16 4.8a3.5 3.5 0 0 1 0 6.4' +
    'M18 14.5c2.2.8 3.5 2.5 3.5 5',
  plug: 'M9 3.5v4.5M15 3.5v4.5M6.5 8h11v3.5a5.5 5.5 0 0 1-11 0zM12 17v4',
  tag: 'M4 4h8l8.5 8.5-8 8L4 12zM8.5 8.5h.01',
  phone: 'M4 7h13M13.5 3.5L17 7l-3.5 3.5M20 17H7M10.5 13.5L7 17l3.5 3.5',
  send: 'M20.5 3.5L10 14M20.5 3.5L14 20.5 10 14 3.5 10z',
  gift:
    'M4 9h16v4H4zM5.5 13v7.5h13V13M12 9v11.5' +
    'M12 9C9 9 7 7.5 8 5.5S11.5 5 12 9c.5-4 3-5.5 4-3.5S15 9 12 9',
  shield: 'M12 3.5l7.5 3v5c0 4.5-3 7.5-7.5 9-4.5-1.5-7.5-4.5-7.5-9v-5zM8.8 12l2.2 2.2 4.2-4.4',
  book: 'M5 4.5h13.5V17H6.5A1.5 1.5 0 0 0 5 18.5zM5 18.5A1.5 1.5 0 0 0 6.5 20h12v-3',
  server: 'M4 4.5h16v6.5H4zM4 13h16v6.5H4zM7.5 7.8h.01M7.5 16.3h.01',
  search: 'M10.5 10.5m-6.5 0a6.5 6.5 0 1 0 13 0 6.5 6.5 0 1 0-13 0M15.5 15.5L20.5 20.5',
  plus: 'M12 5v14M5 12h14',
  copy: 'M8.5 8.5H20V20H8.5zM15.5 8.5V4H4v11.5h4.5',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  close: 'M6 6l12 12M18 6L6 18',
  right: 'M9.5 6l6 6-6 6',
  left: 'M14.5 6l-6 6 6 6',
  down: 'M6 9.5l6 6 6-6',
  up: 'M6 14.5l6-6 6 6',
  more: 'M5.5 12h.01M12 12h.01M18.5 12h.01',
  download: 'M12 4v11M7.5 11l4.5 4.5 4.5-4.5M4.5 20h15',
  external: 'M13 5h6v6M19 5l-8.5 8.5M16 14v5H5V8h5',
  trash: 'M4.5 6.5h15M9.5 6.5V4h5v2.5M6.5 6.5l1 13.5h9l1-13.5M10.5 10.5v6M13.5 10.5v6',
  refresh:
    'M19.5 11A7.5 7.5 0 0 0 6 7L4 9.5M4 4.5v5h5M4.5 13A7.5 7.5 0 0 0 18 17l2-2.5' +
    'M20 19.5v-5h-5',
  stop: 'M6.5 6.5h11v11h-11z',
  chat: 'M4 5h16v11.5H10.5L6 20.5v-4H4z',
  sound: 'M4.5 9.5v5h3.5l4.5 4v-13l-4.5 4zM16 9a4 4 0 0 1 0 6M18.5 6.5a7.5 7.5 0 0 1 0 11',
  mic: 'M9.5 5.5a2.5 2.5 0 0 1 5 0V11a2.5 2.5 0 0 1-5 0zM6 11a6 6 0 0 0 12 0M12 17v3.5M9 20.5h6',
  film:
    'M3.5 5h17v14h-17zM7.5 5v14M16.5 5v14M3.5 12h17M3.5 8.5h4M3.5 15.5h4' +
    'M16.5 8.5h4M16.5 15.5h4',
  notes: 'M6 3.5h9l3.5 3.5v13.5H6zM9 10h6M9 13.5h6M9 17h4',
  vector: 'M5 19L18 6M12.5 6H18v5.5M5 12v7h7',
  pause: 'M8.5 5v14M15.5 5v14',
  edit: 'M4.5 19.5l1-4.5L16 4.5l3.5 3.5L9 18.5z',
  eye:
    'M2.5 12C5 7.5 8.2 5.5 12 5.5s7 2 9.5 6.5c-2.5 4.5-5.7 6.5-9.5 6.5S5 16.5 2.5 12' +
    'M12 12m-2.8 0a2.8 2.8 0 1 0 5.6 0 2.8 2.8 0 1 0-5.6 0',
  warning: 'M12 4l9 16H3zM12 10v4.5M12 17.3h.01',
  info: 'M12 12m-8.5 0a8.5 8.5 0 1 0 17 0 8.5 8.5 0 1 0-17 0M12 11v5.5M12 8h.01',
  sun:
    'M12 12m-4 0a4 4 0 1 0 8 0 4 4 0 1 0-8 0M12 3v2M12 19v2M3 12h2M19 12h2' +
    'M5.6 5.6L7 7M17 17l1.4 1.4M5.6 18.4L7 17M17 7l1.4-1.4',
  moon: 'M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z',
  globe:
    'M12 12m-8.5 0a8.5 8.5 0 1 0 17 0 8.5 8.5 0 1 0-17 0M3.5 12h17' +
    'M12 3.5c5 5 5 12 0 17M12 3.5c-5 5-5 12 0 17',
  exit: 'M14 4.5H5v15h9M10 12h10.5M17 8.5l3.5 3.5-3.5 3.5',
  lock: 'M5.5 10.5h13V20h-13zM8.5 10.5V8a3.5 3.5 0 0 1 7 0v2.5',
  user: 'M12 8m-4 0a4 4 0 1 0 8 0 4 4 0 1 0-8 0M4.5 20c0-4 3.5-6 7.5-6s7.5 2 7.5 6',
  bolt: 'M13 3L5 13.5h6L10 21l8.5-11H12.5z',
  filter: 'M4 5.5h16l-6 7.5v6.5l-4-2.5v-4z',
  bell: 'M6 16.5V11a6 6 0 0 1 12 0v5.5l1.5 1.5h-15zM10 20.5h4',
  gauge: 'M4.5 18a8.5 8.5 0 1 1 15 0M12 14.5l4-5M4.5 18h15',
  erase: 'M8.5 19.5H20M4 14.5L13.5 5l6.5 6.5-8 8H8.5zM9 9.5l6.5 6.5',
} as const

export type IconName = keyof typeof SHAPES

interface IconProps {
  readonly name: IconName
  readonly size?: number
  readonly style?: CSSProperties
}

/** Decorative: the text or label beside it states the meaning. */
export function Icon({ name, size = 18, style }: IconProps) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.75}
      strokeLinecap="round"
      strokeLinejoin="round"
      style={{ flexShrink: 0, ...style }}
      aria-hidden="true"
    >
      <path d={SHAPES[name]} />
    </svg>
  )
}
