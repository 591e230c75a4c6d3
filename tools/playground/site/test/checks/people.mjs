// Keys alone, a phone, light and dark.

import { join } from "node:path";
import { check, equal, example, holds, open, ready, screenshots } from "../browser.mjs";

await check("everything is reached by keys alone", async () => {
  const other = await open();
  await other.locator("#picture").focus();
  await other.keyboard.press("ArrowRight");
  await other.keyboard.press("Shift+ArrowDown");
  await other.keyboard.press("Enter");
  await other.locator("#tab-pixel .history button").first().focus();
  await other.keyboard.press("Enter");
  await other.locator("#tab-step .chips button").first().focus();
  await other.keyboard.press("Enter");
  await other.waitForFunction(() => document.getElementById("position")?.innerText.startsWith("1 executed"));
  // Escape and Tab leave the editor.
  await other.locator(".cm-content").focus();
  await other.keyboard.press("Escape");
  await other.keyboard.press("Tab");
  holds(await other.evaluate(() => !document.activeElement.closest(".cm-editor")), "the editor lets the focus go");
  await other.context().close();
});

// What the key Tab reaches from the top of the page on, by its id or its name.
await check("the key Tab reaches all that can be pressed, and each has a name", async () => {
  const other = await open();
  for (const name of ["Plasma", "a x + y"]) {
    await example(other, name);
    const wanted = await other.evaluate(() => {
      const isSeen = (part) => part.checkVisibility() && !part.disabled && part.tabIndex >= 0 && !part.closest(".words, .cm-editor");
      return [...document.querySelectorAll("button, select, input, summary, a[href], #picture")].filter(isSeen).map((part, number) => {
        part.dataset.number = String(number);
        return part.ariaLabel || part.labels?.[0]?.innerText || part.innerText || part.title;
      });
    });
    equal(wanted.filter((name) => !name?.trim()), [], "parts without a name");
    const reached = new Set();
    await other.evaluate(() => document.activeElement.blur());
    for (let presses = 0; presses < wanted.length + 250 && reached.size < wanted.length; presses += 1) {
      // The editor takes Tab for itself, unless Escape is pressed before it.
      await other.keyboard.press("Escape");
      await other.keyboard.press("Tab");
      const number = await other.evaluate(() => document.activeElement.dataset.number);
      if (number !== undefined) reached.add(Number(number));
    }
    equal(wanted.filter((_, number) => !reached.has(number)), [], `parts of ${name} that Tab does not reach`);
  }
  await other.context().close();
});

await check("it fits a phone", async () => {
  const phone = await open({ viewport: { width: 390, height: 780 }, deviceScaleFactor: 2, hasTouch: true });
  for (const view of ["source", "picture", "code", "cost"]) {
    await phone.click(`#see-${view}`);
    const wide = await phone.evaluate(() => document.documentElement.scrollWidth);
    holds(wide <= 390, `${view} is ${wide} pixels wide`);
    await phone.screenshot({ path: join(screenshots, `phone-${view}.png`) });
  }
  await phone.click("#see-source");
  await example(phone, "a x + y");
  await phone.click("#see-picture");
  holds((await phone.evaluate(() => document.documentElement.scrollWidth)) <= 390, "memory is too wide");
  await phone.screenshot({ path: join(screenshots, "phone-memory.png") });
  await phone.context().close();
});

await check("light and dark", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const other = await open({ colorScheme });
    await other.screenshot({ path: join(screenshots, `wide-${colorScheme}.png`) });
    await other.locator("#picture").click({ position: { x: 300, y: 150 } });
    await other.click("#tab-pixel .history button");
    for (let n = 0; n < 12; n += 1) await other.click('[data-command="step"]');
    await other.waitForFunction(() => document.getElementById("position").innerText.startsWith("12 executed"));
    await other.screenshot({ path: join(screenshots, `step-${colorScheme}.png`) });
    await other.click("#open-cost");
    await other.check("#tiles");
    await other.screenshot({ path: join(screenshots, `cost-${colorScheme}.png`) });
    await example(other, "Turned round");
    await other.screenshot({ path: join(screenshots, `compute-${colorScheme}.png`) });
    await example(other, "Two lookups");
    await other.click("#open-code");
    await other.screenshot({ path: join(screenshots, `threads-${colorScheme}.png`) });
    await other.context().close();
  }
});
