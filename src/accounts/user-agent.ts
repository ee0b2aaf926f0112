// Browser and system of a User-Agent header, in words that the owner recognises. Most browsers also
// send the names of others (Edge sends "Chrome" and "Safari"): the order of the patterns matters.

const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/YaBrowser\//, 'Yandex Browser'],
  [/Edg(?:e|A|iOS)?\//, 'Edge'],
  [/OPR\/|Opera\//, 'Opera'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/Firefox\/|FxiOS\//, 'Firefox'],
  [/Chrome\/|CriOS\/|Chromium\//, 'Chrome'],
  [/Safari\//, 'Safari'],
]

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/Windows/, 'Windows'],
  [/Android/, 'Android'],
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Mac OS X|Macintosh/, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
]

/** For example "Firefox, Windows"; empty when nothing is recognised. */
export function deviceName(agent: string): string {
  const find = (patterns: typeof BROWSERS) => patterns.find(([pattern]) => pattern.test(agent))?.[1]
  return [find(BROWSERS), find(SYSTEMS)].filter((word) => word !== undefined).join(', ')
}
