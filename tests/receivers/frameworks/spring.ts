import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Framework } from './framework.ts';

const manifest = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <parent><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-parent</artifactId><version>4.1.2</version></parent>
  <groupId>example</groupId><artifactId>program</artifactId><version>1</version>
  <properties><java.version>17</java.version></properties>
  <dependencies>
    <dependency><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-webmvc</artifactId></dependency>
  </dependencies>
  <build><plugins><plugin><groupId>org.springframework.boot</groupId><artifactId>spring-boot-maven-plugin</artifactId></plugin></plugins></build>
</project>
`;

export const spring = (maven: string): Framework => ({
  name: 'Spring',
  file: 'Program.java',
  slash: { tooMany: 404, tooFew: 404 },
  complete: (snippet) => `package example;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

@SpringBootApplication
@RestController
public class Program {
  private final String secret = System.getenv("WEBHOOK_SECRET");

  public static void main(String[] args) {
    SpringApplication.run(Program.class, "--server.address=127.0.0.1", "--server.port=" + System.getenv("PORT"));
  }

${snippet}    return ResponseEntity.status(isSigned(rawBody, headers) ? 204 : 401).build();
  }

  @PostMapping("/slash/")
  ResponseEntity<Void> slash() {
    return ResponseEntity.noContent().build();
  }

  private boolean isSigned(byte[] rawBody, HttpHeaders headers) {
    var time = Long.parseLong(headers.getFirst("webhook-timestamp"));
    var head = (headers.getFirst("webhook-id") + "." + time + ".").getBytes(StandardCharsets.UTF_8);
    var standard = "v1," + Base64.getEncoder().encodeToString(sign(Base64.getDecoder().decode(secret.substring(6)), head, rawBody));
    var ofBody = HexFormat.of().formatHex(sign(secret.getBytes(StandardCharsets.UTF_8), rawBody));
    var isStandard = Arrays.stream(headers.getFirst("webhook-signature").split(" ")).anyMatch(given -> isEqual(standard, given));
    var isRecent = Math.abs(System.currentTimeMillis() / 1_000 - time) <= 300;
    return isStandard && isRecent && isEqual(ofBody, headers.getFirst("X-Service-Signature"));
  }

  private static byte[] sign(byte[] key, byte[]... parts) {
    try {
      var mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      for (var part : parts) mac.update(part);
      return mac.doFinal();
    } catch (GeneralSecurityException exception) {
      throw new IllegalStateException(exception);
    }
  }

  // In constant time.
  private static boolean isEqual(String expected, String given) {
    return MessageDigest.isEqual(expected.getBytes(StandardCharsets.UTF_8), given.getBytes(StandardCharsets.UTF_8));
  }
}
`,
  prepare: async (folder, run) => {
    const sources = join(folder, 'src/main/java/example');
    await mkdir(sources, { recursive: true });
    await rename(join(folder, 'Program.java'), join(sources, 'Program.java'));
    await writeFile(join(folder, 'pom.xml'), manifest);
    await run(maven, ['--batch-mode', '--quiet', 'package']);
    return { command: 'java', args: ['-jar', join(folder, 'target/program-1.jar')] };
  },
});
