// Bundles each *.test.ts with the packages that build the page, and gives it to Node's own test runner.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const here = fileURLToPath(new URL('.', import.meta.url))
const out = mkdtempSync(join(tmpdir(), 'holdfast-page-test-'))
try {
  const tests = readdirSync(here, { recursive: true }).filter((name) => name.endsWith('.test.ts')).sort()
  await build({
    configFile: false,
    root: here,
    logLevel: 'warn',
    resolve: { alias: { $: join(here, '../src') } },
    build: {
      ssr: true,
      outDir: out,
      minify: false,
      rolldownOptions: {
        input: Object.fromEntries(tests.map((name) => [name.replace(/[\\/]/g, '_').replace(/\.ts$/, ''), join(here, name)])),
        output: { entryFileNames: '[name].mjs', chunkFileNames: 'chunks/[name].mjs' },
      },
    },
  })
  const bundles = readdirSync(out).filter((name) => name.endsWith('.test.mjs')).map((name) => join(out, name))
  const run = spawnSync(process.execPath, ['--test', ...bundles], { stdio: 'inherit', timeout: 120_000 })
  process.exitCode = run.status ?? 1
} finally {
  rmSync(out, { recursive: true, force: true })
}
