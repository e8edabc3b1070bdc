/** The theme: one accent, muted greys, small type, tabular figures. */
import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core'
import { paletteVariables } from '../components/charts/palette.ts'

/** Contrast of at least 4.5:1: white on the darker half, black on the lighter half. */
const river: MantineColorsTuple = [
  '#eff7fa',
  '#dcecf2',
  '#b6d9e5',
  '#8cc5d8',
  '#66b1ca',
  '#469dba',
  '#2b86a5',
  '#176b87',
  '#12566d',
  '#0c3f50',
]

const dark: MantineColorsTuple = [
  '#d5d9de',
  '#b4bac2',
  '#949ba5',
  '#6b727d',
  '#3d444d',
  '#2c323a',
  '#20252c',
  '#15191e',
  '#101318',
  '#0b0d11',
]

/** Latin faces come first: a Chinese face sets the apostrophe of "account’s" wide. */
const FONT =
  '-apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", ' +
  '"Liberation Sans", "DejaVu Sans", Arial, "PingFang SC", "Microsoft YaHei", "Noto Sans SC", ' +
  '"Noto Sans CJK SC", "WenQuanYi Micro Hei", sans-serif'
const MONO = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace'

export const theme = createTheme({
  primaryColor: 'river',
  primaryShade: 7,
  autoContrast: true,
  luminanceThreshold: 0.35,
  colors: { river, dark },
  fontFamily: FONT,
  fontFamilyMonospace: MONO,
  defaultRadius: 6,
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontSizes: {
    xs: '0.75rem',
    sm: '0.8125rem',
    md: '0.875rem',
    lg: '1rem',
    xl: '1.125rem',
  },
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '1.25rem', lineHeight: '1.75rem' },
      h2: { fontSize: '1rem', lineHeight: '1.5rem' },
      h3: { fontSize: '0.875rem', lineHeight: '1.25rem' },
    },
  },
  components: {
    Button: { defaultProps: { size: 'sm', fw: 500 } },
    Badge: { defaultProps: { tt: 'none', fw: 500 } },
    TextInput: { defaultProps: { size: 'sm' } },
    PasswordInput: { defaultProps: { size: 'sm' } },
    NumberInput: { defaultProps: { size: 'sm' } },
    Select: { defaultProps: { size: 'sm', checkIconPosition: 'right' } },
    // It is focusable, and a menu may contain only items.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    Modal: { defaultProps: { centered: true, overlayProps: { backgroundOpacity: 0.4 } } },
    Tooltip: { defaultProps: { openDelay: 300, withArrow: true } },
  },
})

/** Greys of text with a contrast of at least 4.5:1 on the canvas, in both color schemes. */
export const colorVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    ...paletteVariables('light'),
    '--mantine-color-text': '#1a1f26',
    '--mantine-color-dimmed': 'var(--quiet)',
    '--mantine-color-placeholder': '#6b7280',
    '--mantine-color-error': '#c92a2a',
  },
  dark: {
    ...paletteVariables('dark'),
    '--mantine-color-text': '#d5d9de',
    '--mantine-color-dimmed': 'var(--quiet)',
    '--mantine-color-placeholder': '#868f9b',
    '--mantine-color-error': '#ff8787',
    // The library's own is nearly black on a dark surface.
    '--mantine-color-river-light': 'rgb(70 157 186 / 24%)',
    '--mantine-color-river-light-hover': 'rgb(70 157 186 / 32%)',
  },
})
