"""The files of deploy/ are what HAProxy, Kubernetes and a container engine take, and agree with each other."""

import os
import re
import shutil
import subprocess

import kubernetes_validate
import pytest
import yaml

from deploy.__main__ import CONFIG, find_haproxy
from tests.browser.conftest import ROOT

DEPLOY = ROOT / "deploy"
MANIFESTS = [*yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text(encoding="utf-8"))]
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
REPLICAS = "backend app from replicas\n  server r1 127.0.0.1:8511 check\n"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate that signs itself, with its key."""
    folder = tmp_path_factory.mktemp("certificate")
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-subj", "/CN=localhost", "-keyout", str(folder / "key.pem"), "-out", str(folder / "certificate.pem")]
    subprocess.run(command, check=True, capture_output=True)
    both = folder / "both.pem"
    both.write_bytes((folder / "certificate.pem").read_bytes() + (folder / "key.pem").read_bytes())
    return both


def check(second, **settings: str) -> str:
    """What HAProxy finds wrong with the configuration; "" for nothing."""
    given = {"HALL_LISTEN": ":8500", "HALL_CONTROL": "/run/hall"} | settings
    command = [find_haproxy(), "-c", "-f", str(CONFIG), "-f", str(second)]
    done = subprocess.run(command, env=os.environ | given, capture_output=True, text=True)
    found = [line for line in done.stderr.splitlines() if not line.startswith("[NOTICE]")]
    assert bool(found) == bool(done.returncode)
    return "\n".join(found)


@pytest.mark.skipif(
    shutil.which("haproxy") is None and os.environ.get("REQUIRE_BROWSER") != "1", reason="there is no haproxy"
)
def test_haproxy_takes_the_configuration_in_each_of_its_forms(tmp_path, certificate):
    second = tmp_path / "servers.cfg"
    second.write_text(REPLICAS)
    assert check(second) == ""
    assert check(second, HALL_BASE="/attention", HALL_METRICS="127.0.0.1:8405") == ""
    assert check(second, HALL_CERTIFICATE=str(certificate)) == ""
    assert check(DEPLOY / "names.cfg", HALL_REPLICAS="app") == ""
    assert "nowhere.pem" in check(second, HALL_CERTIFICATE="nowhere.pem")


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda each: f"{each['kind']} {each['metadata']['name']}")
def test_a_manifest_follows_the_schema_of_kubernetes(manifest):
    kubernetes_validate.validate(manifest, kubernetes_validate.latest_version(), strict=True)


def find(kind: str, name: str) -> dict:
    """A manifest."""
    (found,) = (each for each in MANIFESTS if (each["kind"], each["metadata"]["name"]) == (kind, name))
    return found


def container(name: str) -> dict:
    """The container of a deployment."""
    (found,) = find("Deployment", name)["spec"]["template"]["spec"]["containers"]
    return found


def test_manifests_name_the_pods_and_the_port_that_there_are():
    (port,) = {each["containerPort"] for each in container("attention")["ports"]}
    assert find("Service", "attention")["spec"]["ports"][0]["port"] == port
    assert (
        f"}}:{port}" in (DEPLOY / "names.cfg").read_text() and f"port {port}" in (DEPLOY / "Containerfile").read_text()
    )
    for name in ("attention", "attention-proxy"):
        labels = find("Deployment", name)["spec"]["template"]["metadata"]["labels"]
        for kind in ("Deployment", "PodDisruptionBudget"):
            assert find(kind, name)["spec"]["selector"]["matchLabels"] == labels
        assert find("Service", name)["spec"]["selector"] == labels
        assert {"cpu", "memory"} == container(name)["resources"]["limits"].keys()
    assert find("HorizontalPodAutoscaler", "attention")["spec"]["scaleTargetRef"]["name"] == "attention"
    places = re.search(r"server-template r 1-(\d+)", (DEPLOY / "names.cfg").read_text())
    assert find("HorizontalPodAutoscaler", "attention")["spec"]["maxReplicas"] == int(places[1])


def test_a_pod_that_ends_waits_until_proxies_have_forgotten_its_address():
    hold = re.search(r"hold valid (\d+)s", (DEPLOY / "names.cfg").read_text())
    pod = find("Deployment", "attention")["spec"]["template"]["spec"]
    waits = int(container("attention")["lifecycle"]["preStop"]["exec"]["command"][1])
    assert int(hold[1]) < waits < pod["terminationGracePeriodSeconds"]


def test_each_setting_of_the_proxy_that_is_not_optional_is_given_wherever_it_runs():
    asked = {*re.findall(r"\$\{(HALL_\w+)\}", CONFIG.read_text() + (DEPLOY / "names.cfg").read_text())}
    optional = {"HALL_CERTIFICATE", "HALL_BASE", "HALL_METRICS"}
    assert asked - optional <= {each["name"] for each in container("attention-proxy")["env"]}
    assert asked - optional <= COMPOSE["services"]["proxy"]["environment"].keys()
    assert asked <= {*re.findall(r"HALL_\w+", (DEPLOY / "__main__.py").read_text())} | {"HALL_REPLICAS"}


def test_every_container_of_compose_is_bounded_and_changes_nothing_on_its_disk():
    assert COMPOSE["services"].keys() == {"app", "proxy"}
    for service in COMPOSE["services"].values():
        assert {"cpus", "memory"} == service["deploy"]["resources"]["limits"].keys()
        assert service["read_only"] and service["cap_drop"] == ["ALL"]
